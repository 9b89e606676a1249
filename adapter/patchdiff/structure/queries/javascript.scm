(class_declaration name: (identifier) @name) @class

((field_definition
  property: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method
  (#set! terminated))
((field_definition property: (_) @name) @variable
  (#set! terminated))
