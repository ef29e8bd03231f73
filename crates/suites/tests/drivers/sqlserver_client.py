"""What sqlserver_clients.rs has python-tds do: prints what it understands of the answers."""

import sys

import pytds

session = pytds.connect("127.0.0.1", port=int(sys.argv[1]), user="u", password="geheim", database="d",
                        disable_connect_retry=True, login_timeout=20, timeout=20)
cursor = session.cursor()
cursor.execute("SELECT row_of_it")
print("row", cursor.fetchall()[0][0])
cursor.execute("SELECT text_of_it")
number, text = cursor.fetchall()[0]
assert number == 7 and set(text) == {"x"}
print("text", len(text))
try:
    cursor.execute("EXEC fail")
except pytds.Error as error:
    print("error", error.msg_no, error.text)
outputs = cursor.callproc("pay", (5, pytds.output(param_type=int)))
assert cursor.get_proc_return_status() == 3
print("output", outputs[1])
session.commit()
session.close()
