-- name: list.append
UPDATE triphammer_isolation_list SET elements = CONCAT(elements, :element) WHERE id = :id;
