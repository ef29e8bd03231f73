-- Lists are texts that the server converts.

-- name: new_order.call
CALL triphammer_new_order(:w_id, :d_id, :c_id, :entry_d, CAST(:i_id AS integer[]),
    CAST(:supply_w_id AS integer[]), CAST(:quantity AS integer[]),
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
