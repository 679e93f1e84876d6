; definitions

(module name: (_) @name body: (_)? @body) @definition.module
(class name: (_) @name superclass: (superclass (_) @base)? body: (_)? @body) @definition.class
(class name: (_) @name body: (body_statement (call method: (identifier) @_mix arguments: (argument_list [(constant) (scope_resolution)] @base))
  (#any-of? @_mix "include" "extend" "prepend"))) @definition.class
(module name: (_) @name body: (body_statement (call method: (identifier) @_mix arguments: (argument_list [(constant) (scope_resolution)] @base))
  (#any-of? @_mix "include" "extend" "prepend"))) @definition.module
(method name: (_) @name) @definition.method
(singleton_method name: (_) @name) @definition.method
(call method: (identifier) @_define arguments: (argument_list . [(simple_symbol) (string)] @name) block: (_) @body
  (#any-of? @_define "define_method" "define_singleton_method")) @definition.method
(call method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_attr "attr_accessor" "attr_reader" "attr_writer" "cattr_accessor" "mattr_accessor")) @definition.field
(assignment left: (constant) @name right: (call receiver: (constant) method: (identifier) block: (_) @body)) @definition.class
(assignment left: [(constant) (scope_resolution)] @name) @definition.constant
(assignment left: (left_assignment_list (constant) @name)) @definition.constant

; references

(call !receiver method: [(identifier) (constant)] @reference.call arguments: (argument_list) @arguments)
(call receiver: (_) @receiver method: [(identifier) (constant)] @reference.call arguments: (argument_list) @arguments)
(call receiver: (_) @receiver method: [(identifier) (constant)] @reference.call !arguments)
(call !receiver method: [(identifier) (constant)] @reference.call !arguments)
(call receiver: [(constant) (scope_resolution)] @reference.construct method: (identifier) @_new arguments: (argument_list)? @arguments
  (#eq? @_new "new"))
(superclass [(constant) (scope_resolution)] @reference.inherit)
(call method: (identifier) @_mix arguments: (argument_list [(constant) (scope_resolution)] @reference.inherit)
  (#any-of? @_mix "include" "extend" "prepend"))
(exceptions [(constant) (scope_resolution)] @reference.type)
(argument_list [(constant) (scope_resolution)] @reference.value)
(block_argument (simple_symbol) @reference.value)
(call method: (identifier) @_hook arguments: (argument_list (simple_symbol) @reference.value)
  (#match? @_hook "^(before|after|around|validate|helper_method|rescue_from|alias_method|delegate|set_callback|skip_before)"))
(binary (identifier) @reference.value)
(body_statement (identifier) @reference.value)
(then (identifier) @reference.value)
(else (identifier) @reference.value)
(block_body (identifier) @reference.value)
(argument_list (identifier) @reference.value)
(assignment right: (identifier) @reference.value)
(operator_assignment right: (identifier) @reference.value)
(method body: (identifier) @reference.value)
(call receiver: (identifier) @reference.value)
(interpolation (identifier) @reference.value)
(pair value: (identifier) @reference.value)
(array (identifier) @reference.value)
(if condition: (identifier) @reference.value)
(unless condition: (identifier) @reference.value)
(if_modifier (identifier) @reference.value)
(unless_modifier (identifier) @reference.value)
(conditional (identifier) @reference.value)
(unary (identifier) @reference.value)
(parenthesized_statements (identifier) @reference.value)

(method_parameters [(identifier) @local (_ name: (identifier) @local)])
(block_parameters [(identifier) @local (_ name: (identifier) @local)])
(lambda_parameters [(identifier) @local (_ name: (identifier) @local)])
(assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(exception_variable (identifier) @local)

; bindings: types of local names

(assignment left: [(identifier) (instance_variable) (class_variable) (constant)] @binding
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new (#eq? @_new "new")))
(assignment left: [(identifier) (instance_variable) (class_variable)] @binding right: (call) @value)
(assignment left: [(instance_variable) (class_variable)] @binding right: (identifier) @same)
(assignment left: (identifier) @binding right: [(identifier) (instance_variable)] @same)
(operator_assignment left: [(identifier) (instance_variable)] @binding
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new (#eq? @_new "new")))

(call !receiver method: (identifier) @_require arguments: (argument_list . (string))
  (#any-of? @_require "require" "require_relative" "load")) @import
(comment) @comment
