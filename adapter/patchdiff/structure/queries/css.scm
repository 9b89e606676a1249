(rule_set (selectors) @name) @rule

; at-rules are named by all that is before their block
(media_statement (block) @block) @rule
(supports_statement (block) @block) @rule
(keyframes_statement (keyframe_block_list) @block) @rule
(at_rule (block) @block) @rule
(at_rule) @rule

; of the properties only the custom ones, by the refinement
(declaration (property_name) @name) @variable

(import_statement) @import

(comment) @comment
