(rule_set (selectors) @name) @rule

; at-rules are named by the refinement, by all that is before their block or semicolon
(media_statement (block) @rest) @rule
(supports_statement (block) @rest) @rule
(keyframes_statement (keyframe_block_list) @rest) @rule
(at_rule [(block) ";"] @rest) @rule

; of the properties only the custom ones, by the refinement
(declaration (property_name) @name) @variable

(import_statement) @import

(comment) @comment
