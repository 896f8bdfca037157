/** What authors do with a text that is not saved: draw it, and run tests of it. The schema of scenario files. */
import { type Static, Type } from 'typebox';
import type { DomainName } from '../../runtime/domain-name/index.ts';
import type { ScriptData, ScriptKind } from '../../runtime/domain/index.ts';
import type { RunView } from '../../runtime/runs/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import type { ScriptResource } from '../domain-center/script-resource.ts';
import { badParameter, RestError } from '../errors.ts';
import { answers, ErrorAnswer } from './schemas.ts';

/** A text, or the scenario of a code as it serves. */
export interface AuthoredText {
  readonly kind: ScriptKind;
  readonly domainId: string;
  readonly domain: DomainName;
  readonly code: string | undefined;
  readonly data: ScriptData | undefined;
  /** It imports the newest texts of modules, also of drafts. */
  readonly draft: boolean;
}

const Problem = Type.Object({
  line: Type.Integer({ description: 'Counts from 1' }),
  column: Type.Integer(),
  message: Type.String(),
  suggestion: Type.Optional(Type.String()),
  severity: Type.Optional(Type.Literal('warning')),
});

const Node = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['start', 'step', 'choice', 'event', 'function', 'end']),
  label: Type.String({ description: 'Name of a block, or what a module calls or decides' }),
  component: Type.Optional(Type.String()),
  block: Type.Optional(Type.String({ description: '`block` of the trace of a run that comes here' })),
  line: Type.Optional(Type.Integer({ description: 'Counts from 1' })),
});

const Edge = Type.Object({
  from: Type.String(),
  to: Type.String(),
  label: Type.Optional(Type.String({ description: 'Exits that lead here' })),
  dashed: Type.Optional(Type.Literal(true, { description: 'An interrupt, or an error that may come anywhere' })),
});

const Graph = Type.Object({ nodes: Type.Array(Node), edges: Type.Array(Edge) });

const Tested = Type.Object({
  problems: Type.Array(Problem, { description: 'Mistakes of the tests; with one, none of them runs' }),
  tests: Type.Array(
    Type.Object({
      name: Type.String(),
      line: Type.Integer(),
      passed: Type.Boolean(),
      found: Type.Array(Type.String(), { description: 'Unmet expectations' }),
      run: Type.Optional(
        Type.Object({}, { additionalProperties: true, description: 'As /api/runs/ID, with the events of each step' }),
      ),
    }),
  ),
});

const text = (description: string) => Type.String({ minLength: 1, maxLength: 524_288, description });

const code = Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Id of the scenario' }));
const draft = Type.Optional(Type.Boolean({ description: 'It imports the newest texts of modules, also of drafts' }));
const scriptdata = Type.Object({ format: Type.Enum(['yaml', 'js', 'ts']), source: text('The scenario') });

const DrawBody = Type.Object({ code, draft, scriptdata });

const TestBody = Type.Object({
  code,
  draft,
  scriptdata: Type.Optional({ ...scriptdata, description: 'Default: the scenario of this code, as it serves' }),
  tests: text('Tests in YAML or JSON, in the form of a test file'),
});

/** A test made from a run. */
export const MadeTest = Type.Object({
  test: Type.String({ description: 'A test file in YAML' }),
  tried: Type.Boolean({ description: 'It passes; false: the scenario is not there in the version of the run' }),
});

/** The tools of authors. A node loads them at the first request. */
export interface Workbench {
  /** JSON Schema of scenario files. */
  schema(): Promise<object>;
  functions(): Promise<readonly Static<typeof Function>[]>;
  /** A graph; empty for a text that cannot be read. */
  draw(authored: AuthoredText & { readonly data: ScriptData }): Promise<object>;
  /** @returns undefined when the scenario is unknown, or has mistakes */
  test(authored: AuthoredText, tests: string): Promise<object | undefined>;
  /** @returns the reason when no test can repeat the run */
  asTest(
    run: RunView,
    find: (id: string) => Promise<RunView | undefined>,
  ): Promise<Static<typeof MadeTest> | { readonly refused: string }>;
}

const Function = Type.Object({
  name: Type.String({ description: 'In modules, e.g. call.play' }),
  component: Type.String(),
  summary: Type.String(),
});

/** What editors need; public like the other schemas. */
export function scenarioSchemaRoutes(app: App, workbench: Workbench): void {
  const config = { public: true };
  app.get(
    '/scenario-schema.json',
    {
      config,
      schema: {
        description: 'JSON Schema of scenario files, for editors.',
        response: answers({ 200: Type.Object({}, { additionalProperties: true }) }),
      },
    },
    async () => await workbench.schema(),
  );
  app.get(
    '/scenario-functions.json',
    { config, schema: { description: 'The functions of modules.', response: answers({ 200: Type.Array(Function) }) } },
    async () => await workbench.functions(),
  );
}

export interface WorkbenchRoutesDeps {
  readonly kind: ScriptKind;
  readonly workbench: Workbench;
  readonly resource: ScriptResource;
}

/** @param path of the collection, e.g. `/domain/ivrscripts` */
export function workbenchRoutes(app: App, path: string, { kind, workbench, resource }: WorkbenchRoutesDeps): void {
  app.post(
    `${path}!draw`,
    { schema: { body: DrawBody, response: answers({ 200: Graph, 400: ErrorAnswer }) } },
    async (request) => {
      const session = sessionOf(request);
      const { code: id, scriptdata: data, draft: isDraft = false } = request.body;
      const domainId = resource.domainId(session);
      return await workbench.draw({ kind, domainId, domain: session.domain, code: id, data, draft: isDraft });
    },
  );

  app.post(
    `${path}!test`,
    { schema: { body: TestBody, response: answers({ 200: Tested, 400: ErrorAnswer, 422: ErrorAnswer }) } },
    async (request) => {
      const session = sessionOf(request);
      const { code: id, scriptdata: data, draft: isDraft = false, tests } = request.body;
      if (id === undefined && data === undefined) throw badParameter('scriptdata', 'is missing; send it, or a code');
      const domainId = resource.domainId(session);
      const authored = { kind, domainId, domain: session.domain, code: id, data, draft: isDraft };
      const tested = await workbench.test(authored, tests);
      if (tested !== undefined) return tested;
      const reason = data === undefined ? 'names no scenario that can run' : 'has mistakes; CHECK lists them';
      throw new RestError('CANNOT_APPLY', { field: data === undefined ? 'code' : 'scriptdata', reason });
    },
  );
}
