; definitions

(class_declaration name: (_) @name body: (_) @body) @definition.class
(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(class_declaration name: (_) @name (class_heritage (extends_clause value: (_) @base))) @definition.class
(class_declaration name: (_) @name (class_heritage (implements_clause (_) @base))) @definition.class
(abstract_class_declaration name: (_) @name (class_heritage (extends_clause value: (_) @base))) @definition.class
(abstract_class_declaration name: (_) @name (class_heritage (implements_clause (_) @base))) @definition.class
(interface_declaration name: (_) @name (extends_type_clause)? @bases body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(type_alias_declaration name: (_) @name) @definition.type
(internal_module name: (_) @name body: (_) @body) @definition.namespace
(module name: (_) @name body: (_) @body) @definition.namespace
(function_signature name: (_) @name return_type: (_)? @returns) @definition.function
(interface_body (method_signature name: (_) @name return_type: (_)? @returns) @definition.method)
(class_body (method_signature name: (_) @name return_type: (_)? @returns) @definition.method)
(abstract_method_signature name: (_) @name return_type: (_)? @returns) @definition.method
(public_field_definition name: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(public_field_definition name: (_) @name) @definition.field
(function_declaration name: (_) @name return_type: (_) @returns) @definition.function
(class_body (method_definition name: (_) @name return_type: (_) @returns) @definition.method)
(variable_declarator name: (identifier) @name value: (arrow_function return_type: (_) @returns)) @definition.function
(internal_module body: (statement_block (lexical_declaration (variable_declarator name: (identifier) @name) @definition.variable)))
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(ambient_declaration (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable))

(ambient_declaration) @outer
(class_body (decorator) @attribute)

; references

(extends_clause value: (identifier) @reference.inherit)
(extends_clause value: (member_expression object: (_) @receiver property: (_) @reference.inherit))
(implements_clause (type_identifier) @reference.inherit)
(implements_clause (generic_type name: (type_identifier) @reference.inherit))
(extends_type_clause (type_identifier) @reference.inherit)
(extends_type_clause (generic_type name: (type_identifier) @reference.inherit))
(nested_type_identifier module: (_) @receiver name: (type_identifier) @reference.type)
(type_identifier) @reference.type

; bindings: types of local names

(required_parameter pattern: (identifier) @binding type: (_) @type)
(optional_parameter pattern: (identifier) @binding type: (_) @type)
(required_parameter (accessibility_modifier) pattern: (identifier) type: (_)) @bindings
(optional_parameter (accessibility_modifier) pattern: (identifier) type: (_)) @bindings
(variable_declarator name: (identifier) @binding type: (_) @type)
(variable_declarator name: (identifier) @binding value: (as_expression (_) (_) @type))
(public_field_definition name: (property_identifier) @binding type: (_) @type)
(public_field_definition name: (property_identifier) @binding !type value: (new_expression constructor: (_) @result))
(public_field_definition name: (property_identifier) @binding !type value: (call_expression function: [(identifier) (member_expression)] @result))
(property_signature name: (property_identifier) @binding type: (_) @type)

; modules

(import_alias (identifier) @binding (_) @same)
(export_statement "=" (identifier) @local) @export.default
