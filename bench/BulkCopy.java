import com.microsoft.sqlserver.jdbc.ISQLServerBulkData;
import com.microsoft.sqlserver.jdbc.SQLServerBulkCopy;
import com.microsoft.sqlserver.jdbc.SQLServerBulkCopyOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Copies ready-made rows of tpc-b's accounts with Microsoft's driver: URL, rows, sessions. Prints the seconds. */
public class BulkCopy {
    /** The rows of one session, made before the time starts. */
    static final class Part implements ISQLServerBulkData {
        private static final String FILLER = " ".repeat(84);
        private final List<Object[]> rows = new ArrayList<>();
        private int place = -1;

        Part(int first, int last) {
            for (int aid = first; aid <= last; aid++) {
                rows.add(new Object[] {aid, (aid - 1) / 100_000 + 1, 0, FILLER});
            }
        }

        @Override
        public Set<Integer> getColumnOrdinals() {
            return new TreeSet<>(List.of(1, 2, 3, 4));
        }

        @Override
        public String getColumnName(int column) {
            return List.of("aid", "bid", "abalance", "filler").get(column - 1);
        }

        @Override
        public int getColumnType(int column) {
            return column < 4 ? Types.INTEGER : Types.CHAR;
        }

        @Override
        public int getPrecision(int column) {
            return column < 4 ? 10 : 84;
        }

        @Override
        public int getScale(int column) {
            return 0;
        }

        @Override
        public Object[] getRowData() {
            return rows.get(place);
        }

        @Override
        public boolean next() {
            return ++place < rows.size();
        }
    }

    static void copy(String url, Part part) {
        try (Connection connection = DriverManager.getConnection(url);
                SQLServerBulkCopy bulk = new SQLServerBulkCopy(connection)) {
            connection.setAutoCommit(false);
            SQLServerBulkCopyOptions options = new SQLServerBulkCopyOptions();
            options.setTableLock(true);
            options.setBulkCopyTimeout(0);
            bulk.setBulkCopyOptions(options);
            bulk.setDestinationTableName("copied");
            bulk.writeToServer(part);
            connection.commit();
        } catch (Exception failed) {
            failed.printStackTrace();
            System.exit(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int rows = Integer.parseInt(arguments[1]);
        int sessions = Integer.parseInt(arguments[2]);
        List<Thread> threads = new ArrayList<>();
        for (int session = 0; session < sessions; session++) {
            Part part = new Part(session * (rows / sessions) + 1, (session + 1) * (rows / sessions));
            threads.add(new Thread(() -> copy(arguments[0], part)));
        }
        try (Connection connection = DriverManager.getConnection(arguments[0]);
                Statement statement = connection.createStatement()) {
            statement.execute("DROP TABLE IF EXISTS copied");
            statement.execute("CREATE TABLE copied (aid int NOT NULL, bid int, abalance int, filler char(84))");
        }
        long begun = System.nanoTime();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println((System.nanoTime() - begun) / 1e9);
    }
}
