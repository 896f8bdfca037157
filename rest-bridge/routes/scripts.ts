/** Versions of scripts: list, read, and one step back. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ScriptKind, ScriptRow, ScriptVersion, Serving } from '../../runtime/domain/index.ts';
import type { ScriptStore } from '../../runtime/script-store/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { asRestErrors } from '../domain-center/entity-errors.ts';
import type { ScriptResource } from '../domain-center/script-resource.ts';
import { RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

const Version = Type.Object({
  number: Type.Integer(),
  created: Type.Integer({ description: 'Milliseconds since the epoch' }),
  percent: Type.Number({ description: 'Share of new runs that get it' }),
  problems: Type.Array(Type.Object({}, { additionalProperties: true })),
});

const FullVersion = Type.Object({
  ...Version.properties,
  scriptdata: Type.Object({ format: Type.Enum(['yaml', 'js', 'ts']), source: Type.String() }),
  modules: Type.Record(Type.String(), Type.String(), {
    description: 'Texts of the modules that this version imports, by name, such as hours.ts',
  }),
});

/** A text to check, which is not saved. */
const CheckBody = Type.Object({
  code: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Id of the scenario; scripts that import it are checked, too',
    }),
  ),
  draft: Type.Optional(Type.Boolean({ description: 'It imports the newest texts of modules, also of drafts' })),
  scriptdata: Type.Object({
    format: Type.Enum(['yaml', 'js', 'ts']),
    source: Type.String({ minLength: 1, maxLength: 524_288 }),
  }),
});

const Checked = Type.Object({
  mistakes: Type.Integer({ description: '0: the text can run' }),
  problems: Type.Array(Type.Object({}, { additionalProperties: true }), { description: 'Mistakes and warnings' }),
});

const VersionPath = Type.Object({ ...IdPath.properties, number: Type.Integer({ minimum: 1 }) });

export interface ScriptRoutesDeps {
  readonly kind: ScriptKind;
  readonly scripts: Pick<ScriptStore, 'check' | 'versions' | 'version' | 'modules' | 'rollback' | 'fileVersions'>;
  readonly resource: ScriptResource;
}

/** @param path of the collection, e.g. `/domain/ivrscripts` */
export function scriptRoutes(app: App, path: string, { kind, scripts, resource }: ScriptRoutesDeps): void {
  const one = `${path}/${ID}`;
  /** @throws RestError 404/1404 */
  const scriptOf = async (request: FastifyRequest, id: string): Promise<ScriptRow> => {
    const script = await resource.read(sessionOf(request), id);
    if (script === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: resource.entity });
    return script;
  };

  app.post(
    `${path}!check`,
    { schema: { body: CheckBody, response: answers({ 200: Checked, 400: ErrorAnswer }) } },
    async (request) => {
      const { code, scriptdata: data, draft = false } = request.body;
      const domainId = resource.domainId(sessionOf(request));
      const problems = await scripts.check({ kind, domainId, code, data, draft });
      return { mistakes: problems.filter(({ severity }) => severity === undefined).length, problems: [...problems] };
    },
  );

  app.get(
    `${one}/versions`,
    { schema: { params: IdPath, response: answers({ 200: Type.Array(Version), 404: ErrorAnswer }) } },
    async (request) => {
      const { id, serving } = await scriptOf(request, request.params.id);
      const code = await resource.fileCode(sessionOf(request), id);
      const versions = code === undefined ? await scripts.versions(kind, id) : scripts.fileVersions.list(code);
      return versions.map((version) => summary(version, serving));
    },
  );

  app.get(
    `${one}/versions/:number`,
    { schema: { params: VersionPath, response: answers({ 200: FullVersion, 404: ErrorAnswer }) } },
    async (request) => {
      const { id, serving } = await scriptOf(request, request.params.id);
      const code = await resource.fileCode(sessionOf(request), id);
      const { number } = request.params;
      const version =
        code === undefined
          ? await scripts.version(kind, id, number)
          : scripts.fileVersions.list(code).find((each) => each.number === number);
      if (version === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Version' });
      const modules = code === undefined ? Object.fromEntries(await scripts.modules(version)) : {};
      return { ...summary(version, serving), scriptdata: version.scriptdata, modules };
    },
  );

  app.post(
    `${one}!rollback`,
    { schema: { params: IdPath, response: answers({ 200: resource.schema, 404: ErrorAnswer, 422: ErrorAnswer }) } },
    async (request) => {
      const session = sessionOf(request);
      const script = await scriptOf(request, request.params.id);
      const code = await resource.fileCode(session, script.id);
      if (code !== undefined) resource.refuseUnlessMaster(session);
      const after =
        code === undefined
          ? await asRestErrors(resource.entity, () => scripts.rollback(kind, script))
          : (await scripts.fileVersions.rollback(code))
            ? await resource.read(session, script.id)
            : undefined;
      if (after !== undefined) return resource.shown(after);
      throw new RestError('CANNOT_APPLY', { field: 'serving', reason: 'there is no version before that can run' });
    },
  );
}

function summary({ number, created, problems }: ScriptVersion, { version, trial }: Serving) {
  const tried = trial?.percent ?? 0;
  const percent = number === trial?.version ? tried : number === version ? 100 - tried : 0;
  return { number, created, percent, problems: [...problems] };
}
