[
  (class_declaration name: (type_identifier) @name)
  (abstract_class_declaration name: (type_identifier) @name)
] @class
(interface_declaration name: (type_identifier) @name) @interface
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @enum
[
  (internal_module name: (_) @name)
  (module name: (_) @name)
] @module

((public_field_definition
  name: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method
  (#set! terminated))
((public_field_definition name: (_) @name) @variable
  (#set! terminated))

((interface_body (method_signature name: (_) @name) @method)
  (#set! terminated))
((class_body (method_signature name: (_) @name) @signature)
  (#set! terminated))
((abstract_method_signature name: (_) @name) @method
  (#set! terminated))
(function_signature name: (identifier) @name) @signature

(ambient_declaration
  [
    (lexical_declaration (variable_declarator name: (identifier) @name) @variable)
    (variable_declaration (variable_declarator name: (identifier) @name) @variable)
  ])
(ambient_declaration
  [
    (lexical_declaration . (variable_declarator) @wrapped .) @wrapper
    (variable_declaration . (variable_declarator) @wrapped .) @wrapper
  ])
(internal_module body: (statement_block
  [
    (lexical_declaration (variable_declarator name: (identifier) @name) @variable)
    (variable_declaration (variable_declarator name: (identifier) @name) @variable)
    (export_statement
      [
        (lexical_declaration (variable_declarator name: (identifier) @name) @variable)
        (variable_declaration (variable_declarator name: (identifier) @name) @variable)
      ])
  ]))
(internal_module body: (statement_block
  [
    (lexical_declaration . (variable_declarator) @wrapped .) @wrapper
    (variable_declaration . (variable_declarator) @wrapped .) @wrapper
    (export_statement
      [
        (lexical_declaration . (variable_declarator) @wrapped .) @wrapper
        (variable_declaration . (variable_declarator) @wrapped .) @wrapper
      ])
  ]))
(module body: (statement_block
  [
    (lexical_declaration (variable_declarator name: (identifier) @name) @variable)
    (variable_declaration (variable_declarator name: (identifier) @name) @variable)
    (export_statement
      [
        (lexical_declaration (variable_declarator name: (identifier) @name) @variable)
        (variable_declaration (variable_declarator name: (identifier) @name) @variable)
      ])
  ]))
(module body: (statement_block
  [
    (lexical_declaration . (variable_declarator) @wrapped .) @wrapper
    (variable_declaration . (variable_declarator) @wrapped .) @wrapper
    (export_statement
      [
        (lexical_declaration . (variable_declarator) @wrapped .) @wrapper
        (variable_declaration . (variable_declarator) @wrapped .) @wrapper
      ])
  ]))

(ambient_declaration (_) @wrapped) @wrapper
(expression_statement (internal_module) @wrapped) @wrapper
(class_body (decorator) @prefix)

(import_alias) @import
