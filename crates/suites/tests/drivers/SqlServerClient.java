import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;

/** What sqlserver_clients.rs has Microsoft's JDBC driver do: prints what it understands of the answers. */
public class SqlServerClient {
    public static void main(String[] args) throws Exception {
        String url = "jdbc:sqlserver://127.0.0.1:" + args[0]
            + ";databaseName=d;user=u;password=geheim;loginTimeout=20;" + args[1];
        try (Connection session = DriverManager.getConnection(url); var statement = session.createStatement()) {
            try (ResultSet rows = statement.executeQuery("SELECT row_of_it")) {
                rows.next();
                System.out.println("row " + rows.getInt(1));
            }
            try (ResultSet rows = statement.executeQuery("SELECT text_of_it")) {
                rows.next();
                System.out.println("text " + rows.getString(2).length());
            }
            try {
                statement.execute("EXEC fail");
            } catch (SQLException error) {
                System.out.println("error " + error.getErrorCode() + " " + error.getMessage());
            }
            try (var call = session.prepareCall("{call pay(?, ?)}")) {
                call.setInt(1, 5);
                call.registerOutParameter(2, Types.INTEGER);
                call.execute();
                System.out.println("output " + call.getInt(2));
            }
        }
    }
}
