(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
; a namespace without braces holds nothing
(namespace_definition name: (namespace_name) @name body: (_)) @module

(const_declaration (const_element (name) @name) @constant)
((const_declaration (const_element) @wrapped) @wrapper
  (#set! single))
(property_declaration (property_element name: (variable_name) @name) @variable)
((property_declaration (property_element) @wrapped) @wrapper
  (#set! single))

; assignments at top level, of functions first
(program
  (expression_statement
    (assignment_expression
      left: (variable_name) @name
      right: [(anonymous_function) (arrow_function)])) @function)
(program
  (expression_statement (assignment_expression left: (variable_name) @name)) @variable)
(namespace_definition
  body: (compound_statement
    (expression_statement
      (assignment_expression
        left: (variable_name) @name
        right: [(anonymous_function) (arrow_function)])) @function))
(namespace_definition
  body: (compound_statement
    (expression_statement (assignment_expression left: (variable_name) @name)) @variable))

(namespace_use_declaration) @import

(comment) @comment
