(class_declaration name: (identifier) @name (class_heritage)? @bases body: (_) @body) @definition.class
(class_body member: (field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method)
(class_body member: (field_definition property: (_) @name) @definition.field)
(field_definition property: (property_identifier) @binding value: (new_expression constructor: (_) @result))
(class_heritage (identifier) @reference.inherit)
(class_heritage (member_expression object: (_) @receiver property: (_) @reference.inherit))
