; definitions

(namespace_definition name: (_) @name body: (_) @body) @definition.namespace
(namespace_definition name: (_) @package !body)
(class_declaration name: (_) @name body: (_) @body) @definition.class
(class_declaration name: (_) @name (base_clause (_) @base)) @definition.class
(class_declaration name: (_) @name (class_interface_clause (_) @base)) @definition.class
(class_declaration name: (_) @name body: (declaration_list (use_declaration [(name) (qualified_name)] @base))) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(interface_declaration name: (_) @name (base_clause (_) @base)) @definition.interface
(trait_declaration name: (_) @name body: (_) @body) @definition.trait
(trait_declaration name: (_) @name body: (declaration_list (use_declaration [(name) (qualified_name)] @base))) @definition.trait
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_declaration name: (_) @name (class_interface_clause (_) @base)) @definition.enum
(function_definition name: (_) @name return_type: (_)? @returns body: (_) @body) @definition.function
(method_declaration name: (_) @name return_type: (_)? @returns body: (_)? @body) @definition.method
(const_declaration (const_element . (name) @name)) @definition.constant
(property_declaration (property_element name: (variable_name (name) @name))) @definition.field
(program (expression_statement (assignment_expression left: (variable_name (name) @name) right: [(anonymous_function body: (_) @body)
  (arrow_function body: (_) @body)]) @definition.function))
(function_call_expression function: (name) @_define arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_define "define")) @definition.constant

; references

(function_call_expression function: [(name) (qualified_name)] @reference.call arguments: (_) @arguments)
(member_call_expression object: (_) @receiver name: (name) @reference.call arguments: (_) @arguments)
(nullsafe_member_call_expression object: (_) @receiver name: (name) @reference.call arguments: (_) @arguments)
(scoped_call_expression scope: (_) @receiver name: (name) @reference.call arguments: (_) @arguments)
(object_creation_expression [(name) (qualified_name)] @reference.construct (arguments)? @arguments)
(base_clause [(name) (qualified_name)] @reference.inherit)
(class_interface_clause [(name) (qualified_name)] @reference.inherit)
(use_declaration [(name) (qualified_name)] @reference.inherit)
(attribute [(name) (qualified_name)] @reference.decorator)
(named_type [(name) (qualified_name)] @reference.type)
(class_constant_access_expression . [(name) (qualified_name)] @reference.type)
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @reference.type)

; bindings: types of local names

(simple_parameter type: (_) @type name: (variable_name) @binding)
(property_promotion_parameter type: (_) name: (variable_name)) @bindings
(property_promotion_parameter type: (_) @type name: (variable_name) @binding)
(property_declaration type: (_) @type (property_element name: (variable_name) @binding))
(assignment_expression left: [(variable_name) (member_access_expression)] @binding
  right: [(object_creation_expression) (member_call_expression) (scoped_call_expression) (function_call_expression) (variable_name)
    (member_access_expression) (clone_expression)] @value)
(catch_clause type: (_) @type name: (_) @binding)

(namespace_use_declaration) @import
(attribute_list) @attribute
(comment) @comment
