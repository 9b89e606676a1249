[
  (class_declaration name: (identifier) @name)
  (record_declaration name: (identifier) @name)
] @class
(struct_declaration name: (identifier) @name) @struct
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(delegate_declaration name: (identifier) @name) @type
[
  (namespace_declaration name: (_) @name)
  (file_scoped_namespace_declaration name: (_) @name)
] @module

; members that implement an interface explicitly; the refinement qualifies them by it
(method_declaration
  (explicit_interface_specifier (_) @explicit)
  name: (identifier) @name) @method
(property_declaration
  (explicit_interface_specifier (_) @explicit)
  name: (identifier) @name) @variable
(event_declaration
  (explicit_interface_specifier (_) @explicit)
  name: (identifier) @name) @variable

[
  (method_declaration name: (identifier) @name)
  (constructor_declaration name: (identifier) @name)
  (destructor_declaration "~" @tilde name: (identifier) @name)
] @method
(local_function_statement name: (identifier) @name) @function

[
  (property_declaration name: (identifier) @name)
  (event_declaration name: (identifier) @name)
] @variable
[
  (field_declaration
    (variable_declaration (variable_declarator name: (identifier) @name) @variable))
  (event_field_declaration
    (variable_declaration (variable_declarator name: (identifier) @name) @variable))
]
((field_declaration (variable_declaration (variable_declarator) @wrapped)) @wrapper
  (#set! single))
((event_field_declaration (variable_declaration (variable_declarator) @wrapped)) @wrapper
  (#set! single))

(using_directive) @import

(comment) @comment
