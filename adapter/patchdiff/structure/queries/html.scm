; named by their id, or their tag, by the refinement
(element . [(start_tag) (self_closing_tag)] @tag) @element
(script_element . (start_tag) @tag) @element
(style_element . (start_tag) @tag) @element
