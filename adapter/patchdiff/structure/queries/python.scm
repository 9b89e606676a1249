(class_definition name: (identifier) @name) @class

(function_definition name: (identifier) @name) @function

(decorated_definition definition: (_) @wrapped) @wrapper

(module
  (expression_statement . (assignment left: (identifier) @name) .) @variable)
(class_definition
  body: (block
    (expression_statement . (assignment left: (identifier) @name) .) @variable))

(type_alias_statement left: (type . (identifier) @name)) @type
(type_alias_statement left: (type . (generic_type . (identifier) @name))) @type

[
  (import_statement)
  (import_from_statement)
  (future_import_statement)
] @import

(comment) @comment
