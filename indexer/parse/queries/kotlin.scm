; definitions; the dialect distinguishes interfaces and enums from classes

(class_declaration name: (identifier) @name [(class_body) (enum_class_body)]? @body) @definition.class
(class_declaration name: (identifier) @name (delegation_specifiers (delegation_specifier [(user_type) @base
  (constructor_invocation (user_type) @base) (explicit_delegation (user_type) @base)]))) @definition.class
(object_declaration name: (identifier) @name (class_body)? @body) @definition.object
(object_declaration name: (identifier) @name (delegation_specifiers (delegation_specifier [(user_type) @base
  (constructor_invocation (user_type) @base)]))) @definition.object
(function_declaration name: (identifier) @name (function_value_parameters) . [(user_type) (nullable_type)]? @returns (function_body)? @body)
  @definition.function
(function_declaration [(user_type) (nullable_type)] @owner . name: (identifier) @name) @definition.function
(secondary_constructor "constructor" @name (block)? @body) @definition.constructor
(source_file (property_declaration (variable_declaration . (identifier) @name)) @definition.variable)
(source_file (property_declaration [(user_type) (nullable_type)] @owner . (variable_declaration . (identifier) @name)) @definition.variable)
(class_body (property_declaration (variable_declaration . (identifier) @name)) @definition.field)
(enum_class_body (property_declaration (variable_declaration . (identifier) @name)) @definition.field)
(property_declaration (variable_declaration . (identifier) @name) (getter)) @definition.property
(property_declaration (modifiers (property_modifier) @_const) (variable_declaration . (identifier) @name) (#eq? @_const "const"))
  @definition.constant
(type_alias type: (identifier) @name) @definition.type

; references

(call_expression . (identifier) @reference.call (value_arguments)? @arguments)
(call_expression . (navigation_expression (_) @receiver (identifier) @reference.call .) (value_arguments)? @arguments)
(infix_expression . (_) @receiver . (identifier) @reference.call)
(callable_reference (identifier) @reference.value .)
(delegation_specifier (user_type (identifier) @reference.inherit))
(delegation_specifier (constructor_invocation (user_type (identifier) @reference.inherit)))
(delegation_specifier (explicit_delegation (user_type (identifier) @reference.inherit)))
(annotation (user_type (identifier) @reference.decorator))
(annotation (constructor_invocation (user_type (identifier) @reference.decorator)))
(user_type (identifier) @reference.type)
(value_argument (identifier) @reference.value)

; bindings: types of local names

(parameter (identifier) @binding . [(user_type) (nullable_type)] @type)
(class_parameter (identifier) @binding . [(user_type) (nullable_type)] @type)
(variable_declaration (identifier) @binding . [(user_type) (nullable_type)] @type)
(property_declaration (variable_declaration . (identifier) @binding .) . (call_expression . [(identifier) (navigation_expression)] @result))
(property_declaration (variable_declaration . (identifier) @binding .) . (property_delegate (call_expression . (identifier) @_lazy
  (annotated_lambda (lambda_literal (call_expression . [(identifier) (navigation_expression)] @result) .))))
  (#eq? @_lazy "lazy"))
(property_declaration (variable_declaration . (identifier) @binding .) . [(identifier) (navigation_expression)] @same)
(property_declaration (variable_declaration . (identifier) @binding .) . (as_expression (_) (user_type) @type))
(assignment left: [(identifier) (navigation_expression)] @binding right: (call_expression . [(identifier) (navigation_expression)] @result))

(package_header (qualified_identifier) @package)
(import) @import
[(line_comment) (block_comment)] @comment
