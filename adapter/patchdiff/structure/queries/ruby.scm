(class name: (_) @name) @class
(module name: (_) @name) @module

(method name: (_) @name) @function
; named with its object by the refinement
(singleton_method object: (_) @object name: (_) @name) @function

; `private def f` and the like
(call !receiver
  arguments: (argument_list . [(method) (singleton_method)] @wrapped .)) @wrapper
(call !receiver
  arguments: (argument_list . (call !receiver) @wrapped .)) @wrapper

[
  (assignment left: [(constant) (scope_resolution)] @name)
  (assignment left: (left_assignment_list (constant) @name))
  (operator_assignment left: [(constant) (scope_resolution)] @name)
] @constant
(program
  [
    (assignment left: (global_variable) @name)
    (assignment left: (left_assignment_list (global_variable) @name))
    (operator_assignment left: (global_variable) @name)
  ] @variable)

(heredoc_beginning) @opening
(heredoc_body) @continuation
