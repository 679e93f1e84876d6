; definitions; the dialect distinguishes the kinds of types

(class_declaration name: (_) @name body: (_) @body) @definition.class
(class_declaration name: (_) @name (inheritance_specifier inherits_from: (_) @base)) @definition.class
(protocol_declaration name: (_) @name body: (_) @body) @definition.interface
(protocol_declaration name: (_) @name (inheritance_specifier inherits_from: (_) @base)) @definition.interface
(function_declaration "func" . name: _ @name body: (_)? @body) @definition.function
(function_declaration "func" . name: _ @name [(user_type) (optional_type)] @returns) @definition.function
(protocol_function_declaration name: (simple_identifier) @name name: [(user_type) (optional_type)]? @returns) @definition.function
(init_declaration name: _ @name body: (_)? @body) @definition.constructor
(deinit_declaration "deinit" @name body: (_) @body) @definition.method
(subscript_declaration "subscript" @name) @definition.method
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.variable)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_) @body) @definition.property
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.property
(typealias_declaration "typealias" . name: (type_identifier) @name) @definition.type
(macro_declaration (simple_identifier) @name) @definition.macro

; references

(call_expression . (simple_identifier) @reference.call (call_suffix . (value_arguments) @arguments .))
(call_expression . (simple_identifier) @reference.call (call_suffix (lambda_literal)))
(call_expression . (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @reference.call))
  (call_suffix . (value_arguments) @arguments .))
(call_expression . (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @reference.call))
  (call_suffix (lambda_literal)))
(constructor_expression constructed_type: (user_type (type_identifier) @reference.construct))
(inheritance_specifier inherits_from: (user_type (type_identifier) @reference.inherit))
(attribute (user_type (type_identifier) @reference.decorator))
(user_type (type_identifier) @reference.type)
(value_argument value: (simple_identifier) @reference.value)
(value_argument value: (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @reference.value)))
(macro_invocation . (simple_identifier) @reference.macro)

; bindings: types of local names

(parameter name: (simple_identifier) @binding . [(user_type) (optional_type)] @type)
(property_declaration name: (pattern bound_identifier: (simple_identifier) @binding)
  (type_annotation [(user_type) (optional_type)] @type))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @binding)
  . value: (call_expression . [(simple_identifier) (navigation_expression)] @result))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @binding)
  . value: (try_expression expr: (call_expression . [(simple_identifier) (navigation_expression)] @result)))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @binding)
  . value: (try_expression expr: (await_expression expr: (call_expression . [(simple_identifier) (navigation_expression)] @result))))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @binding)
  . value: (await_expression expr: (call_expression . [(simple_identifier) (navigation_expression)] @result)))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @binding)
  . value: [(simple_identifier) (navigation_expression)] @same)
(if_statement bound_identifier: (simple_identifier) @binding . condition: "=" . condition: (call_expression . (_) @result))
(if_statement bound_identifier: (simple_identifier) @binding . condition: "=" . condition: (as_expression (user_type) @type))
(if_statement bound_identifier: (simple_identifier) @binding . condition: "=" . condition: [(simple_identifier) (navigation_expression)] @same)
(guard_statement bound_identifier: (simple_identifier) @binding . condition: "=" . condition: (call_expression . (_) @result))
(guard_statement bound_identifier: (simple_identifier) @binding . condition: "=" . condition: (as_expression (user_type) @type))
(assignment target: (directly_assignable_expression) @binding result: (call_expression . [(simple_identifier) (navigation_expression)] @result))
(assignment target: (directly_assignable_expression) @binding result: (simple_identifier) @same)

(import_declaration) @import
[(comment) (multiline_comment)] @comment
