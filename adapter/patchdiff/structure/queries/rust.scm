(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(union_item name: (type_identifier) @name) @union
(trait_item name: (type_identifier) @name) @trait
(mod_item name: (identifier) @name) @module
(macro_definition name: (identifier) @name) @macro
[
  (type_item name: (type_identifier) @name)
  (associated_type name: (type_identifier) @name)
] @type

; named by its refinement: from the trait, or from the type, to the end of the type
(impl_item "!"? @negated trait: (_)? @trait_of type: (_) @name) @impl

(function_item name: (identifier) @name) @function
(trait_item
  body: (declaration_list (function_signature_item name: (identifier) @name) @method))
(function_signature_item name: (identifier) @name) @signature

; not in the body of a function
(source_file (const_item name: (identifier) @name) @constant)
(declaration_list (const_item name: (identifier) @name) @constant)
(source_file (static_item name: (identifier) @name) @variable)
(declaration_list (static_item name: (identifier) @name) @variable)

(use_declaration) @import

(attribute_item) @prefix
[(line_comment) (block_comment)] @comment
