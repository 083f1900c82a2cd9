import * as z from "zod";

export const nameText = z.string().min(1).max(255);

export const versionNumber = z.coerce.number<number | string>().int().min(1).max(999_999_999);

export const reason = z.string().max(2_000).default("").meta({ description: "Why, for the record." });

export const pageQuery = z.strictObject({
  limit: z.coerce.number<number | string>().int().min(1).max(200).default(50).meta({ description: "Maximum number." }),
  nextToken: z.string().max(4_096).optional().meta({ description: "Token of the previous page." }),
});

export const problem = z
  .object({ path: z.string(), value: z.unknown().optional(), rule: z.string(), line: z.int().optional() })
  .meta({
    id: "Problem",
    description: "Violated rules of the request: the path, the value, the rule.",
  });

export const errorBody = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string().meta({ description: "The problem, the value, the violated rule, and what to do next." }),
      details: z
        .unknown()
        .optional()
        .meta({ description: "Evidence by code; of INVALID_INPUT `{problems: Problem[]}`." }),
      requestId: z.string(),
    }),
  })
  .meta({ id: "Error", description: "Every refusal and failure has this shape." });
