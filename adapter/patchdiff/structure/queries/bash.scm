(function_definition name: (word) @name) @function

; variables at top level: assigned, or declared without a value
(program (variable_assignment name: (variable_name) @name) @variable)
(program
  (variable_assignments (variable_assignment name: (variable_name) @name) @variable))
(program
  (declaration_command (variable_assignment name: (variable_name) @name) @variable))
(program (declaration_command ["declare" "typeset"] (variable_name) @name @variable))
((declaration_command [(variable_assignment) (variable_name)] @wrapped) @wrapper
  (#set! single))
