/** The operations on calls, from the OpenAPI document of the node. */
import { read } from '../lib/api.ts';
import { fieldsOf, type Schema, type SchemaField } from '../parts/schema-fields.ts';

interface OpenApiOperation {
  readonly summary?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<Method, OpenApiOperation>>>>>;
}

/** An operation with a form. */
export interface ApiOperation {
  readonly name: string;
  readonly method: 'POST' | 'DELETE';
  /** With `{id}` for the dialog. */
  readonly path: string;
  readonly summary: string;
  readonly fields: readonly SchemaField[];
  /** It takes `dry_run`. */
  readonly dryRun: boolean;
}

let document: Promise<OpenApi> | undefined;

/** Read once, when a form is first opened. @throws ApiError */
export async function openApi(): Promise<OpenApi> {
  document ??= read<OpenApi>('/openapi.json');
  try {
    return await document;
  } catch (error) {
    document = undefined;
    throw error;
  }
}

/** The operations on a dialog: `base/{id}!NAME`, and its end. @throws ApiError */
export async function operationsOfCall(base: string): Promise<readonly ApiOperation[]> {
  const { paths } = await openApi();
  const own = `${base}/{id}`;
  const named = Object.keys(paths).filter((path) => path.startsWith(`${own}!`));
  const end = paths[own]?.delete;
  return [
    ...named.flatMap((path) => operationOf('POST', path.slice(own.length + 1), path, paths[path]?.post)),
    ...operationOf('DELETE', 'bye', own, end),
  ];
}

/** The operations that are not done to one dialog, such as a new call. @throws ApiError */
export async function operationsWithoutCall(base: string): Promise<readonly ApiOperation[]> {
  const { paths } = await openApi();
  return Object.keys(paths)
    .filter((path) => path.startsWith(`${base}!`) && paths[path.replace('!', '/{id}!')] === undefined)
    .flatMap((path) => operationOf('POST', path.slice(base.length + 1), path, paths[path]?.post));
}

function operationOf(
  method: ApiOperation['method'],
  name: string,
  path: string,
  operation: OpenApiOperation | undefined,
): ApiOperation[] {
  if (operation === undefined) return [];
  const { summary = '', parameters = [], requestBody } = operation;
  const schema = requestBody?.content?.['application/json']?.schema ?? {};
  const dryRun = parameters.some((parameter) => parameter.name === 'dry_run');
  return [{ name, method, path, summary, fields: fieldsOf(schema), dryRun }];
}
