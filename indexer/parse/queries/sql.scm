(create_table (object_reference name: (_) @name)) @definition.table
(create_view (object_reference name: (_) @name)) @definition.view
(create_materialized_view (object_reference name: (_) @name)) @definition.view
(create_function (object_reference name: (_) @name)) @definition.function
(create_type (object_reference name: (_) @name)) @definition.type
(comment) @comment
