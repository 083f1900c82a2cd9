import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv from "ajv";

interface Packaged {
  readonly name: string;
  readonly version: string;
  readonly licence?: string;
}
interface Entry {
  readonly version: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly name?: string;
}
interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}
interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

const root = join(__dirname, "..");
const { checkLicences, licencesOf, writeBill } = require("../scripts/sbom.js") as {
  checkLicences(packages: readonly Packaged[]): void;
  licencesOf(lock: object): readonly Packaged[];
  writeBill(folder: string): string;
};
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  readonly packages: Readonly<Record<string, Entry>>;
};

/** The parts of CycloneDX 1.5 (bom-1.5.schema.json) that the bill uses. */
const component = {
  type: "object",
  required: ["type", "name", "bom-ref", "version", "purl"],
  properties: {
    type: { enum: ["application", "library"] },
    name: { type: "string", minLength: 1 },
    version: { type: "string" },
    "bom-ref": { type: "string", minLength: 1 },
    scope: { enum: ["required", "optional", "excluded"] },
    purl: { type: "string", pattern: "^pkg:(npm|pypi)/" },
    hashes: {
      type: "array",
      items: {
        type: "object",
        required: ["alg", "content"],
        additionalProperties: false,
        properties: {
          alg: { enum: ["SHA-256", "SHA-512"] },
          content: { type: "string", pattern: "^([a-f0-9]{64}|[a-f0-9]{128})$" },
        },
      },
    },
    licenses: {
      type: "array",
      items: { oneOf: [{ required: ["license"] }, { required: ["expression"] }] },
    },
    externalReferences: { type: "array", items: { type: "object", required: ["url", "type"] } },
  },
};
const bomSchema = {
  type: "object",
  required: ["bomFormat", "specVersion", "version", "metadata", "components", "dependencies"],
  properties: {
    bomFormat: { const: "CycloneDX" },
    specVersion: { const: "1.5" },
    serialNumber: { type: "string", pattern: "^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" },
    version: { type: "integer", minimum: 1 },
    metadata: { type: "object", required: ["timestamp", "component"], properties: { component } },
    components: { type: "array", items: component, uniqueItems: true },
    dependencies: { type: "array", items: { type: "object", required: ["ref"] }, uniqueItems: true },
  },
};

describe("the software bill of materials", () => {
  let bill: Bill;
  let licences: string;
  beforeAll(() => {
    const folder = writeBill(mkdtempSync(join(tmpdir(), "ringmaster-sbom-")));
    bill = JSON.parse(readFileSync(join(folder, "sbom.cdx.json"), "utf8")) as Bill;
    licences = readFileSync(join(folder, "licences.md"), "utf8");
    rmSync(folder, { recursive: true });
  });

  it("is CycloneDX, names the platform, and every reference in it resolves", () => {
    const ajv = new Ajv({ strict: false });
    expect(ajv.validate(bomSchema, bill) || ajv.errors).toBe(true);
    expect(bill.metadata.component.name).toBe("ringmaster");
    const references = [bill.metadata.component, ...bill.components].map((each) => each["bom-ref"]);
    expect(new Set(references).size).toBe(references.length);
    const used = bill.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]);
    expect(used.filter((ref) => !references.includes(ref))).toEqual([]);
  });

  it("has every package of the lockfile, with the lockfile's digest", () => {
    const listed = new Map(bill.components.map((each) => [each["bom-ref"], each.hashes?.[0]?.content]));
    const packages = Object.entries(lock.packages).filter(([place, { link }]) => /node_modules/.test(place) && !link);
    expect(packages.length).toBeGreaterThan(500);
    const wrong = packages.filter(([place, { name, version, integrity }]) => {
      const reference = `${name ?? place.split("node_modules/").at(-1)}@${version}`;
      // The digest of an archive covers the packages inside it.
      if (integrity === undefined) return !listed.has(reference);
      return listed.get(reference) !== Buffer.from(integrity.slice(7), "base64").toString("hex");
    });
    expect(wrong).toEqual([]);
  });

  it("has the downloads of the native installer", () => {
    const wheels = bill.components.filter(({ name }) => name.startsWith("tensorflow"));
    expect(wheels).toHaveLength(4);
    for (const { hashes } of wheels) expect(hashes).toEqual([{ alg: "SHA-256", content: expect.any(String) }]);
  });

  it("comes with the list of licences", () => {
    expect(licences).toMatch(/^## MIT\n\n.*zod@/m);
    expect(licences).not.toMatch(/^## .*undefined/m);
  });

  it("is in the trainer's image", () => {
    const image = readFileSync(join(root, "trainer-container", "Dockerfile"), "utf8");
    expect(image).toMatch(/node scripts\/sbom\.js --out \/bundles\/sbom/);
    expect(image).toMatch(/COPY --from=bundles \/bundles \/opt\/ringmaster/);
  });
});

describe("licences", () => {
  const packaged = (licence?: string): readonly Packaged[] => [{ name: "p", version: "1.0.0", licence }];

  it("of all packages are allowed", () => {
    expect(() => checkLicences(licencesOf(lock))).not.toThrow();
  });

  it.each(["MIT", "(MIT OR GPL-3.0-or-later)", "Apache-2.0 AND MIT", "(BSD-3-Clause AND Apache-2.0)"])(
    "%s is allowed",
    (licence) => expect(() => checkLicences(packaged(licence))).not.toThrow(),
  );

  it.each([
    ["GPL-3.0-only", "p@1.0.0 (GPL-3.0-only)"],
    ["AGPL-3.0-or-later", "p@1.0.0 (AGPL-3.0-or-later)"],
    ["MIT AND GPL-2.0-only", "p@1.0.0 (MIT AND GPL-2.0-only)"],
    ["((MIT OR GPL-3.0-only) AND AGPL-3.0-only)", "p@1.0.0 (((MIT OR GPL-3.0-only) AND AGPL-3.0-only))"],
    ["(MIT) OR (GPL-3.0-only)", "p@1.0.0"],
    ["UNLICENSED", "p@1.0.0 (UNLICENSED)"],
    ["SEE LICENSE IN LICENSE", "p@1.0.0"],
    [undefined, "p@1.0.0 (no licence)"],
  ])("%s is refused, and the package is named", (licence, named) => {
    expect(() => checkLicences(packaged(licence))).toThrow(named);
  });
});
