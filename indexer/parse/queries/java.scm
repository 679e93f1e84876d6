; definitions

(class_declaration name: (_) @name body: (_) @body) @definition.class
(class_declaration name: (_) @name superclass: (superclass (_) @base)) @definition.class
(class_declaration name: (_) @name interfaces: (super_interfaces (type_list (_) @base))) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(interface_declaration name: (_) @name (extends_interfaces (type_list (_) @base))) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_declaration name: (_) @name interfaces: (super_interfaces (type_list (_) @base))) @definition.enum
(record_declaration name: (_) @name body: (_) @body) @definition.record
(record_declaration name: (_) @name interfaces: (super_interfaces (type_list (_) @base))) @definition.record
(annotation_type_declaration name: (_) @name body: (_) @body) @definition.interface
(annotation_type_element_declaration name: (_) @name) @definition.method
(method_declaration type: (_) @returns name: (_) @name body: (_)? @body) @definition.method
(constructor_declaration name: (_) @name body: (_) @body) @definition.constructor
(compact_constructor_declaration name: (_) @name body: (_) @body) @definition.constructor
(field_declaration declarator: (variable_declarator name: (_) @name)) @definition.field
(constant_declaration declarator: (variable_declarator name: (_) @name)) @definition.constant
(enum_constant name: (_) @name body: (_) @body) @definition.object

; references

(method_invocation !object name: (_) @reference.call arguments: (_) @arguments)
(method_invocation object: (_) @receiver name: (_) @reference.call arguments: (_) @arguments)
(object_creation_expression type: (type_identifier) @reference.construct arguments: (_) @arguments)
(object_creation_expression type: (generic_type (type_identifier) @reference.construct) arguments: (_) @arguments)
(object_creation_expression type: (scoped_type_identifier (_) @receiver . (type_identifier) @reference.construct .) arguments: (_) @arguments)
(explicit_constructor_invocation constructor: [(super) (this)] @reference.construct arguments: (_) @arguments)
(method_reference . (_) @receiver (identifier) @reference.value @sure .)
(marker_annotation name: (identifier) @reference.decorator)
(annotation name: (identifier) @reference.decorator)
(superclass (type_identifier) @reference.inherit)
(superclass (generic_type (type_identifier) @reference.inherit))
(super_interfaces (type_list [(type_identifier) @reference.inherit (generic_type (type_identifier) @reference.inherit)]))
(extends_interfaces (type_list [(type_identifier) @reference.inherit (generic_type (type_identifier) @reference.inherit)]))
(permits (type_list (type_identifier) @reference.type))
(scoped_type_identifier (_) @receiver . (type_identifier) @reference.type .)
(type_identifier) @reference.type

; bindings: types of local names

(formal_parameter type: (_) @type name: (_) @binding)
(spread_parameter (type_identifier) @type (variable_declarator name: (_) @binding))
(catch_formal_parameter (catch_type . (_) @type .) name: (_) @binding)
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @binding))
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (_) @binding))
(local_variable_declaration type: (type_identifier) @_var declarator: (variable_declarator name: (_) @binding
  value: [(method_invocation) (object_creation_expression) (identifier) (field_access)] @value) (#eq? @_var "var"))
(local_variable_declaration type: (type_identifier) @_var declarator: (variable_declarator name: (_) @binding
  value: (cast_expression type: (_) @type)) (#eq? @_var "var"))
(enhanced_for_statement type: (_) @type name: (_) @binding)
(resource type: (_) @type name: (_) @binding)
(instanceof_expression right: (_) @type name: (_) @binding)
(type_pattern (_) @type (identifier) @binding)
(record_pattern_component (_) @type (identifier) @binding)
(assignment_expression left: (field_access) @binding right: [(method_invocation) (object_creation_expression) (identifier)] @value)

(import_declaration) @import
(package_declaration [(scoped_identifier) (identifier)] @package)
[(line_comment) (block_comment)] @comment
