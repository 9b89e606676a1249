(class_declaration name: (identifier) @name) @class

(field_definition
  property: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method
(field_definition property: (_) @name) @variable
(class_body (field_definition property: (_) @name) @variable . ";" @end)
