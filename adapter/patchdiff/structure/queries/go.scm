(function_declaration name: (identifier) @name) @function

; the receiver without `*` and type arguments
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @qualifier
        (generic_type type: (type_identifier) @qualifier)
        (pointer_type (type_identifier) @qualifier)
        (pointer_type (generic_type type: (type_identifier) @qualifier))
        (parenthesized_type (pointer_type (type_identifier) @qualifier))
      ]))
  name: (field_identifier) @name) @method

(type_spec name: (type_identifier) @name type: (struct_type)) @struct
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
((type_declaration [(type_spec) (type_alias)] @wrapped) @wrapper
  (#set! single))

(type_spec
  type: (interface_type (method_elem name: (field_identifier) @name) @method))

; constants and variables at top level only; the grammar has the field name for the first constant
(source_file (const_declaration (const_spec (identifier) @name) @constant))
((const_declaration (const_spec) @wrapped) @wrapper
  (#set! single))
(source_file (var_declaration (var_spec name: (identifier) @name) @variable))
((var_declaration (var_spec) @wrapped) @wrapper
  (#set! single))
(source_file
  (var_declaration (var_spec_list (var_spec name: (identifier) @name) @variable)))
((var_declaration (var_spec_list (var_spec) @wrapped)) @wrapper
  (#set! single))

(import_declaration) @import

(comment) @comment
