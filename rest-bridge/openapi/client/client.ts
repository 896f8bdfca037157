/** Makes a TypeScript client of the REST service from the OpenAPI document: one file without dependencies. */
import type { OpenApiDocument } from '../document.ts';
import type { Json, JsonObject } from '../operation.ts';
import { answerType } from './answer-type.ts';
import { key, typeName, typeOf } from './types.ts';

interface Content {
  readonly [type: string]: { readonly schema?: Json };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly required: boolean;
    readonly schema: Json;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** The text of the client's module: `createClient(options)` with a method for each operation of the document. */
export function clientOf(document: OpenApiDocument): string {
  const methods: string[] = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `operationOf` makes it
      methods.push(methodOf(method.toUpperCase(), path, operation as unknown as Operation));
    }
  }
  return `${HEAD}${errorType(document)}${RUNTIME}${methods.join('\n')}\n  };\n}\n`;
}

function methodOf(method: string, path: string, operation: Operation): string {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const inPath = parameters.filter((each) => each.in === 'path');
  const inQuery = parameters.filter((each) => each.in === 'query');
  const body = bodyType(requestBody?.content);
  const needsQuery = inQuery.some(({ required }) => required);
  const args = [
    ...inPath.map(({ name, schema }) => `${key(name)}: ${typeOf(schema)}`),
    ...(inQuery.length === 0
      ? []
      : [
          `query${needsQuery ? '' : '?'}: { ${inQuery
            .map(({ name, required, schema }) => `${key(name)}${required ? '' : '?'}: ${typeOf(schema)}`)
            .join('; ')} }`,
        ]),
    ...(body === undefined ? [] : [`body: ${body}`]),
    'headers?: Record<string, string>',
  ];
  const optional = inPath.length === 0 && !needsQuery && body === undefined;
  const url = path.replaceAll(/\{([^}]+)\}/g, (_all, name: string) => `\${${pathPart(name)}}`);
  const { type, read, depends } = answerType(responses);
  const given = `{ ${args.join('; ')} }`;
  // When the answer depends on the arguments, a type parameter gives the compiler their literal types.
  const [generic, argument] = depends ? [`<const A extends ${given}>`, 'A'] : ['', given];
  const none = depends ? ' = {} as A' : ' = {}';
  return [
    `    /** ${summary.replaceAll('*/', '* /')} \`${method} ${path.replaceAll('*/', '* /')}\` */`,
    `    ${camel(operationId)}: async ${generic}(args: ${argument}${optional ? none : ''}): Promise<${type}> =>`,
    `      (await send(${JSON.stringify(method)}, \`${url}\`, args, ${JSON.stringify(read)})) as ${type},`,
  ].join('\n');
}

/** The encoded parameter. The path of a class contains slashes, which stay. */
function pathPart(name: string): string {
  const value = `args[${JSON.stringify(name)}]`;
  return name === 'class_path'
    ? `String(${value}).split('/').map(encodeURIComponent).join('/')`
    : `encodeURIComponent(${value})`;
}

function bodyType(content: Content | undefined): string | undefined {
  if (content === undefined) return undefined;
  const json = content['application/json'];
  return json === undefined ? 'Blob | FormData' : typeOf(json.schema);
}

function camel(id: string): string {
  return id.replaceAll(/_+([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
}

function errorType({ components }: OpenApiDocument): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `openApiDocument` makes it
  const { schemas } = components as { readonly schemas: JsonObject };
  return Object.entries(schemas)
    .map(([name, schema]) => `export type ${typeName(name)} = ${typeOf(schema)};\n`)
    .join('');
}

const HEAD = `/**
 * Client of the Ringmaster REST service, made by \`npx ringmaster client\` from its OpenAPI document. Make it anew rather
 * than editing it.
 */

`;

const RUNTIME = `
export interface ClientOptions {
  /** Address of the node, e.g. \`http://127.0.0.1:8080\`. */
  readonly url: string;
  /** The session_token of a login; without it only public endpoints answer. */
  readonly token?: string;
  readonly fetch?: typeof globalThis.fetch;
}

/** The service refused a request: its status and its error object. */
export class RingmasterError extends Error {
  override readonly name = 'RingmasterError';
  readonly status: number;
  readonly error: ErrorObject;
  constructor(status: number, error: ErrorObject) {
    super(\`\${status}: \${error.error_message}\`);
    this.status = status;
    this.error = error;
  }
}

/** The type of a query parameter. */
type Asked<A, Name extends string> = A extends { readonly query: { readonly [K in Name]: infer V } } ? V : undefined;
type If<Value, Wanted, Then, Else> = Value extends Wanted ? Then : Else;
/** With \`dry_run\` an operation answers what it would touch. */
type Tried<A, Answer, Dry> = If<Asked<A, 'dry_run'>, true, Dry, Answer>;
/** With \`countonly\`, and with a limit of 0, a list answers how many there are. */
type Listed<A, List, Count> = If<Asked<A, 'countonly'>, true, Count, If<Asked<A, 'limit'>, 0, Count, List>>;
/** With \`aggr\` or \`groupby\` a list has a row for each group, unless only their number is asked for. */
type Grouped<A, Answer, Rows> = Answer extends { readonly count: number }
  ? Answer
  : If<Asked<A, 'aggr'>, string, Rows, If<Asked<A, 'groupby'>, string, Rows, Answer>>;

interface Arguments {
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Client = ReturnType<typeof createClient>;

export function createClient({ url, token, fetch: send_ = globalThis.fetch }: ClientOptions) {
  const send = async (method: string, path: string, args: Arguments, read: 'json' | 'response' | 'nothing') => {
    const target = new URL(\`\${url.replace(/\\/$/, '')}/rest/v1\${path}\`);
    for (const [name, value] of Object.entries(args.query ?? {})) {
      if (value !== undefined) target.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    const isFile = args.body instanceof Blob || args.body instanceof FormData;
    const response = await send_(target, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: \`Bearer \${token}\` }),
        ...(args.body === undefined || isFile ? {} : { 'content-type': 'application/json' }),
        ...args.headers,
      },
      ...(args.body === undefined ? {} : { body: isFile ? (args.body as Blob | FormData) : JSON.stringify(args.body) }),
    });
    if (!response.ok) throw new RingmasterError(response.status, (await response.json()) as ErrorObject);
    if (read === 'response') return response;
    return read === 'nothing' || response.status === 204 ? undefined : await response.json();
  };
  return {
`;
