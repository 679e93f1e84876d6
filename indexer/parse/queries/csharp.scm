; definitions

(namespace_declaration name: (_) @name body: (_) @body) @definition.namespace
(class_declaration name: (_) @name (base_list (_) @base)? body: (_) @body) @definition.class
(class_declaration name: (_) @name (base_list (_) @base)) @definition.class
(struct_declaration name: (_) @name (base_list (_) @base)? body: (_) @body) @definition.struct
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(interface_declaration name: (_) @name (base_list (_) @base)) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(record_declaration name: (_) @name body: (_)? @body) @definition.record
(record_declaration name: (_) @name (base_list (_) @base)) @definition.record
(delegate_declaration name: (_) @name) @definition.type
(method_declaration returns: (_) @returns name: (_) @name body: (_)? @body) @definition.method
(constructor_declaration name: (_) @name body: (_)? @body) @definition.constructor
(destructor_declaration name: (_) @name body: (_)? @body) @definition.method
(operator_declaration type: (_) @returns body: (_)? @body) @definition.method
(conversion_operator_declaration type: (_) @returns body: (_)? @body) @definition.method
(indexer_declaration type: (_) @returns accessors: (_)? @body) @definition.property
(property_declaration type: (_) @returns name: (_) @name [(accessor_list) (arrow_expression_clause)] @body) @definition.property
(event_declaration name: (_) @name) @definition.property
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(local_function_statement name: (_) @name body: (_)? @body) @definition.function

; references

(invocation_expression function: (identifier) @reference.call arguments: (_) @arguments)
(invocation_expression function: (generic_name . (identifier) @reference.call) arguments: (_) @arguments)
(invocation_expression function: (member_access_expression expression: _ @receiver name: (identifier) @reference.call) arguments: (_) @arguments)
(invocation_expression function: (member_access_expression expression: _ @receiver name: (generic_name . (identifier) @reference.call))
  arguments: (_) @arguments)
(invocation_expression function: (conditional_access_expression condition: _ @receiver
  (member_binding_expression name: (identifier) @reference.call)) arguments: (_) @arguments)
(object_creation_expression type: (identifier) @reference.construct arguments: (_)? @arguments)
(object_creation_expression type: (generic_name . (identifier) @reference.construct) arguments: (_)? @arguments)
(object_creation_expression type: (qualified_name qualifier: (_) @receiver name: (_) @reference.construct) arguments: (_)? @arguments)
(constructor_initializer ["base" "this"] @reference.construct (argument_list) @arguments)
(attribute name: (identifier) @reference.decorator)
(base_list (identifier) @reference.inherit)
(base_list (generic_name . (identifier) @reference.inherit))
(base_list (qualified_name qualifier: (_) @receiver name: (identifier) @reference.inherit))
(_ type: (identifier) @reference.type)
(_ type: (generic_name . (identifier) @reference.type))
(_ type: (nullable_type (identifier) @reference.type))
(_ type: (qualified_name qualifier: (_) @receiver name: (identifier) @reference.type))
(method_declaration returns: (identifier) @reference.type)
(method_declaration returns: (generic_name . (identifier) @reference.type))
(type_argument_list (identifier) @reference.type)
(typeof_expression (identifier) @reference.type)
(argument (identifier) @reference.value)
(argument (member_access_expression expression: _ @receiver name: (identifier) @reference.value))
(assignment_expression right: (identifier) @reference.value)

; bindings: types of local names

(parameter type: (_) @type name: (_) @binding)
(variable_declaration type: [(identifier) (generic_name) (qualified_name) (nullable_type) (predefined_type) (array_type)] @type
  (variable_declarator name: (_) @binding))
(variable_declaration type: (implicit_type) (variable_declarator name: (_) @binding
  [(invocation_expression) (object_creation_expression) (identifier) (member_access_expression) (await_expression)] @value))
(variable_declaration type: (implicit_type) (variable_declarator name: (_) @binding (cast_expression type: (_) @type)))
(property_declaration type: (_) @type name: (_) @binding)
(foreach_statement type: [(identifier) (generic_name) (qualified_name)] @type left: (_) @binding)
(declaration_pattern type: (_) @type name: (_) @binding)
(catch_declaration type: (_) @type name: (_) @binding)
(assignment_expression left: [(member_access_expression) (identifier)] @binding
  right: [(object_creation_expression) (invocation_expression) (identifier)] @value)

(using_directive) @import
(file_scoped_namespace_declaration name: (_) @package)
(comment) @comment
