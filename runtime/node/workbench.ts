/** The tools of authors in a node: loaded at the first request for one of them. */
import type { Workbench } from '../../rest-bridge/index.ts';
import { components, domainClasses, selectEntities } from '../component-registry/index.ts';
import { methods } from '../language/index.ts';
import { builtIn, type ClassDefinition } from '../model/index.ts';
import type { RunView } from '../runs/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { ScriptStore } from '../script-store/index.ts';

const load = () => import('../workbench/index.ts');

/**
 * @param scripts other scenarios of a simulation are those that serve
 * @param classesOf the classes of a domain: a simulation takes, and refuses, what they do
 */
export function openWorkbench(
  scripts: Pick<ScriptStore, 'read' | 'plainCode' | 'program'>,
  sandbox: Sandbox,
  classesOf: (domain: RunView['domain']) => readonly ClassDefinition[],
): Workbench {
  const tools = (domain: RunView['domain']) => ({
    components,
    openSandbox: () => Promise.resolve(sandbox),
    select: selectEntities,
    classes: domainClasses(
      '/domain/classes',
      classesOf(domain).filter((each) => builtIn(each) === undefined),
    ),
    scenarios: (id: string) => scripts.program(id, domain),
  });
  return {
    schema: async () => (await load()).scenarioSchema(components),
    functions: async () =>
      [...methods(components)].map(([name, { name: component, summary }]) => ({ name, component, summary })),
    draw: async (authored) => {
      const { moduleGraph, programGraph } = await load();
      const { code = authored.kind, data } = authored;
      if (data.format !== 'yaml') {
        const plain = await scripts.plainCode(authored);
        return plain === undefined ? EMPTY : moduleGraph(code, plain, new Set(methods(components).keys()));
      }
      const { draft } = await scripts.read({ ...authored, data });
      return draft === undefined ? EMPTY : programGraph(draft);
    },
    test: async (authored, tests) => {
      const { code = authored.kind, domain, data } = authored;
      const program =
        data === undefined ? await scripts.program(code, domain) : (await scripts.read({ ...authored, data })).program;
      return program && (await (await load()).testText(tests, program, tools(domain)));
    },
    asTest: async (run, find) => {
      const { asTest, ReplayError, servedBy, verifiedTest } = await load();
      const served = await servedRuns(run, servedBy, find);
      const program = await scripts.program(run.scenario, run.domain);
      const isSame = program !== undefined && (program.hash ?? program.version) === (run.hash ?? run.version);
      try {
        if (!isSame || run.outcome === undefined) return { test: asTest(run, served), tried: false };
        return { test: await verifiedTest(run, served, program, tools(run.domain)), tried: true };
      } catch (error) {
        if (!(error instanceof ReplayError)) throw error;
        return { refused: error.message };
      }
    },
  };
}

const EMPTY = { nodes: [], edges: [] } as const;

/** The kept runs that got the call from a run, directly or through others. */
async function servedRuns(
  run: RunView,
  servedBy: (view: RunView) => readonly string[],
  find: (id: string) => Promise<RunView | undefined>,
): Promise<ReadonlyMap<string, RunView>> {
  const found = new Map<string, RunView>();
  for (const id of servedBy(run)) {
    const served = await find(id);
    if (served === undefined) continue;
    found.set(id, served);
    for (const each of await servedRuns(served, servedBy, find)) found.set(...each);
  }
  return found;
}
