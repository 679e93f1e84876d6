; definitions

(class_definition name: (_) @name body: (_)? @body) @definition.class
(class_definition name: (_) @name extend: (extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)) @definition.class
(object_definition name: (_) @name body: (_)? @body) @definition.object
(object_definition name: (_) @name extend: (extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)) @definition.object
(package_object name: (_) @name body: (_)? @body) @definition.object
(trait_definition name: (_) @name body: (_)? @body) @definition.trait
(trait_definition name: (_) @name extend: (extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)) @definition.trait
(enum_definition name: (_) @name body: (_)? @body) @definition.enum
(enum_definition name: (_) @name extend: (extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)) @definition.enum
(given_definition name: (_) @name body: (with_template_body) @body) @definition.object
(given_definition !name return_type: (_) @name body: (with_template_body) @body) @definition.object
(given_definition name: (_) @name) @definition.variable
(function_definition name: (_) @name return_type: (_)? @returns body: (_) @body) @definition.function
(function_declaration name: (_) @name return_type: (_)? @returns) @definition.function
(extension_definition parameters: (parameters (parameter type: (_) @owner)) body: (function_definition name: (_) @name) @definition.function)
(full_enum_case name: (_) @name) @definition.class
(type_definition name: (_) @name) @definition.type
(compilation_unit [(val_definition pattern: [(identifier) @name (_ (identifier) @name)]) (var_definition pattern: [(identifier) @name (_ (identifier) @name)])
  (val_declaration name: (identifier) @name)] @definition.variable)
(template_body [(val_definition pattern: [(identifier) @name (_ (identifier) @name)]) (var_definition pattern: [(identifier) @name (_ (identifier) @name)])
  (val_declaration name: (identifier) @name) (var_declaration name: (identifier) @name)] @definition.field)
(with_template_body [(val_definition pattern: [(identifier) @name (_ (identifier) @name)]) (var_definition pattern: [(identifier) @name (_ (identifier) @name)])] @definition.field)
(enum_body [(val_definition pattern: [(identifier) @name (_ (identifier) @name)]) (var_definition pattern: [(identifier) @name (_ (identifier) @name)])] @definition.field)

; references

(call_expression function: (identifier) @reference.call arguments: (arguments) @arguments)
(call_expression function: (field_expression value: (_) @receiver field: (_) @reference.call) arguments: (arguments) @arguments)
(call_expression function: (identifier) @reference.call arguments: (block))
(call_expression function: (field_expression value: (_) @receiver field: (_) @reference.call) arguments: (block))
(call_expression function: (field_expression value: (_) @receiver field: (_) @reference.call) arguments: (case_block))
(call_expression function: (generic_function function: (identifier) @reference.call) arguments: (arguments) @arguments)
(call_expression function: (generic_function function: (field_expression value: (_) @receiver field: (_) @reference.call))
  arguments: (arguments) @arguments)
(infix_expression left: (_) @receiver operator: (identifier) @reference.call)
(instance_expression (type_identifier) @reference.construct arguments: (arguments)? @arguments)
(instance_expression (generic_type type: (type_identifier) @reference.construct) arguments: (arguments)? @arguments)
(instance_expression (stable_type_identifier (_) @receiver . (type_identifier) @reference.construct .))
(extends_clause (type_identifier) @reference.inherit)
(extends_clause (generic_type type: (type_identifier) @reference.inherit))
(extends_clause (stable_type_identifier (_) @receiver . (type_identifier) @reference.inherit .))
(annotation name: (type_identifier) @reference.decorator)
(stable_type_identifier (_) @receiver . (type_identifier) @reference.type .)
(type_identifier) @reference.type
(arguments (identifier) @reference.value)
(field_expression value: (_) @receiver field: (identifier) @reference.value)
(postfix_expression (_) @receiver . (identifier) @reference.call .)

; bindings: types of local names

(parameter name: (identifier) @binding type: [(type_identifier) (generic_type) (stable_type_identifier)] @type)
(class_parameter name: (identifier) @binding type: [(type_identifier) (generic_type) (stable_type_identifier)] @type)
(val_definition pattern: (identifier) @binding type: (_) @type)
(var_definition pattern: (identifier) @binding type: (_) @type)
(val_declaration name: (identifier) @binding type: (_) @type)
(val_definition pattern: (identifier) @binding !type value: (call_expression function: [(identifier) (field_expression)] @result))
(var_definition pattern: (identifier) @binding !type value: (call_expression function: [(identifier) (field_expression)] @result))
(val_definition pattern: (identifier) @binding !type value: (instance_expression . (_) @type))
(var_definition pattern: (identifier) @binding !type value: (instance_expression . (_) @type))
(val_definition pattern: (identifier) @binding !type value: [(identifier) (field_expression)] @same)
(typed_pattern pattern: (identifier) @binding type: (_) @type)

(package_clause name: (_) @package)
(import_declaration) @import
[(comment) (block_comment)] @comment
