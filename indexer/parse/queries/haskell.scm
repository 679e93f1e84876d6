; definitions; the dialect joins a signature and the equations that follow it

(function name: [(variable) @name (prefix_id (operator) @name)]) @definition.function
(function (infix operator: [(operator) @name (infix_id (variable) @name)])) @definition.function
(declarations (bind name: [(variable) @name (prefix_id (operator) @name)]) @definition.function)
(class_declarations (bind name: (variable) @name) @definition.function)
(instance_declarations (bind name: [(variable) @name (prefix_id (operator) @name)]) @definition.function)
(declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @definition.declaration)
(declarations (signature names: (binding_list [(variable) @name (prefix_id (operator) @name)])) @definition.declaration)
(class_declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @definition.declaration)
(class_declarations (signature names: (binding_list [(variable) @name (prefix_id (operator) @name)])) @definition.declaration)
(foreign_import signature: (signature name: (variable) @name)) @definition.declaration
(data_type name: (_) @name) @definition.struct
(newtype name: (_) @name) @definition.struct
(type_synonym name: (_) @name) @definition.type
(type_family name: (_) @name) @definition.type
(class name: (_) @name declarations: (_)? @body) @definition.class
(instance name: (_) @base patterns: (type_patterns . (_) @name) declarations: (_)? @body) @definition.impl
(data_constructor [(record name: (constructor) @name) (prefix name: (constructor) @name)]) @definition.constructor
(newtype_constructor name: (constructor) @name) @definition.constructor
(gadt_constructor name: (constructor) @name) @definition.constructor
(field name: (field_name (variable) @name)) @definition.field

; references

(apply function: (variable) @reference.call)
(apply function: (qualified module: (module) @receiver id: (variable) @reference.call))
(infix left_operand: (variable) @reference.call)
(infix right_operand: (variable) @reference.call)
(infix left_operand: (qualified module: (module) @receiver id: (variable) @reference.call))
(infix right_operand: (qualified module: (module) @receiver id: (variable) @reference.call))
(infix operator: (operator) @reference.call)
(infix operator: (infix_id (variable) @reference.call))
(infix operator: (infix_id (qualified module: (module) @receiver id: (variable) @reference.call)))
(exp (variable) @reference.call)
(match expression: (variable) @reference.call)
(generator expression: (variable) @reference.call)
(bind expression: (variable) @reference.call)
(qualified module: (module) @receiver id: (variable) @reference.value)
(apply argument: (variable) @reference.value)
(list (variable) @reference.value)
(tuple (variable) @reference.value)
(left_section (variable) @reference.value)
(right_section (variable) @reference.value)
(constructor) @reference.construct
(qualified module: (module) @receiver id: (constructor) @reference.construct)
(qualified module: (module) @receiver id: (name) @reference.type)
(instance name: (name) @reference.inherit)
(deriving_instance name: (name) @reference.inherit)
(name) @reference.type

(header module: (module) @package)
(import) @import
[(comment) (haddock)] @comment
