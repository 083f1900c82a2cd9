import com.fasterxml.jackson.databind.ObjectMapper;
import io.trino.testing.LocalQueryRunner;
import io.trino.testing.MaterializedResult;
import io.trino.testing.TestingSession;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs SQL on Trino's engine. Reads a JSON text per line, and writes {"rows": [[...]]} or {"error": "..."} per line. */
public class Queries {
  public static void main(String[] arguments) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err);
    ObjectMapper json = new ObjectMapper();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (LocalQueryRunner runner = LocalQueryRunner.create(TestingSession.testSessionBuilder().build())) {
      out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        Map<String, ?> answer;
        try {
          MaterializedResult result = runner.execute(json.readValue(line, String.class));
          List<List<Object>> rows = new ArrayList<>();
          // JSON has no NaN and infinities: Jackson writes them as texts.
          result.getMaterializedRows().forEach(row -> rows.add(row.getFields()));
          answer = Map.of("rows", rows);
        } catch (RuntimeException error) {
          answer = Map.of("error", String.valueOf(error.getMessage()));
        }
        out.println(json.writeValueAsString(answer));
        out.flush();
      }
    }
    System.exit(0); // the engine's threads are no daemons
  }
}
