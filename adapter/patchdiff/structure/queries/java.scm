[
  (class_declaration name: (identifier) @name)
  (record_declaration name: (identifier) @name)
] @class
[
  (interface_declaration name: (identifier) @name)
  (annotation_type_declaration name: (identifier) @name)
] @interface
(enum_declaration name: (identifier) @name) @enum

[
  (method_declaration name: (identifier) @name)
  (constructor_declaration name: (identifier) @name)
  (compact_constructor_declaration name: (identifier) @name)
  (annotation_type_element_declaration name: (identifier) @name)
] @method

(field_declaration
  declarator: (variable_declarator name: (identifier) @name) @variable)
((field_declaration declarator: (variable_declarator) @wrapped) @wrapper
  (#set! single))
(constant_declaration
  declarator: (variable_declarator name: (identifier) @name) @constant)
((constant_declaration declarator: (variable_declarator) @wrapped) @wrapper
  (#set! single))

(import_declaration) @import

[(line_comment) (block_comment)] @comment
