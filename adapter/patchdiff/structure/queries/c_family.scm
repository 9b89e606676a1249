; What C and C++ have in common. Names inside declarators are found by the refinement.

((struct_specifier name: (_) @name body: (_)) @struct
  (#set! terminated))
((union_specifier name: (_) @name body: (_)) @union
  (#set! terminated))
((enum_specifier name: (_) @name body: (_)) @enum
  (#set! terminated))

(function_definition declarator: (_) @declarator) @function

; a signature, where what is declared is a function
((declaration declarator: (_) @declarator) @variable
  (#set! not-local))
(compound_statement) @body
(function_definition (declaration) @body)

(type_definition declarator: (_) @declarator) @type

(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro

(linkage_specification body: (function_definition) @wrapped) @wrapper
(linkage_specification body: (declaration) @wrapped) @wrapper

(preproc_include) @import

(comment) @comment
