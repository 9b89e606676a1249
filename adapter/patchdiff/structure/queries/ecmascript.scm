; What JavaScript and TypeScript have in common.

(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function

; functions bound to a name, at any depth
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(lexical_declaration
  . (variable_declarator
      value: [(arrow_function) (function_expression) (generator_function)]) @wrapped .) @wrapper
(variable_declaration
  . (variable_declarator
      value: [(arrow_function) (function_expression) (generator_function)]) @wrapped .) @wrapper
(expression_statement
  . (assignment_expression
      left: (member_expression property: (_) @name) @assigned
      right: [(arrow_function) (function_expression) (generator_function)]) .) @function

(method_definition
  name: [
    (property_identifier) (private_property_identifier) (string) (number)
    (computed_property_name)
  ] @name) @method
(pair
  key: [(property_identifier) (string) (number) (computed_property_name)] @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method

; the other variables, at top level only
(program
  [
    (lexical_declaration (variable_declarator name: (identifier) @name) @variable)
    (variable_declaration (variable_declarator name: (identifier) @name) @variable)
    (export_statement
      [
        (lexical_declaration (variable_declarator name: (identifier) @name) @variable)
        (variable_declaration (variable_declarator name: (identifier) @name) @variable)
      ])
  ])
(program
  [
    (lexical_declaration . (variable_declarator) @wrapped .) @wrapper
    (variable_declaration . (variable_declarator) @wrapped .) @wrapper
    (export_statement
      [
        (lexical_declaration . (variable_declarator) @wrapped .) @wrapper
        (variable_declaration . (variable_declarator) @wrapped .) @wrapper
      ])
  ])

(export_statement declaration: (_) @wrapped) @wrapper

; what is exported as default without a name
((export_statement
  value: [(arrow_function) (function_expression !name) (generator_function !name)]) @function
  (#set! name "default"))
((export_statement value: (class !name)) @class
  (#set! name "default"))
((export_statement value: [(object) (array) (call_expression) (new_expression)]) @variable
  (#set! name "default"))

(import_statement) @import

(comment) @comment
