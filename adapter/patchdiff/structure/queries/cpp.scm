((class_specifier name: (_) @name body: (_)) @class
  (#set! terminated))
(namespace_definition name: (_) @name) @module
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type

; members: their functions only, declared here and defined elsewhere
(field_declaration declarator: (_) @declarator) @signature
(field_declaration_list (declaration declarator: (_) @declarator) @signature)
(field_declaration !declarator type: (_) @wrapped) @wrapper

(template_declaration (_) @wrapped) @wrapper
(friend_declaration (_) @wrapped) @wrapper
