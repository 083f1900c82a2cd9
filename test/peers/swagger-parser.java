import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.ParseOptions;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.nio.file.Files;
import java.nio.file.Path;

/** Parses an OpenAPI document as API Gateway's import does, and prints each message and the number of operations. */
class SwaggerParser {
  public static void main(String[] arguments) throws Exception {
    ParseOptions options = new ParseOptions();
    options.setResolve(true);
    SwaggerParseResult result = new OpenAPIV3Parser().readContents(Files.readString(Path.of(arguments[0])), null, options);
    for (String message : result.getMessages()) System.out.println("message: " + message);
    if (result.getOpenAPI() == null) return;
    System.out.println("operations: " + result.getOpenAPI().getPaths().values().stream()
        .mapToLong(path -> path.readOperations().stream().filter(one -> one.getOperationId() != null).count()).sum());
    System.out.println("schemas: " + result.getOpenAPI().getComponents().getSchemas().size());
  }
}
