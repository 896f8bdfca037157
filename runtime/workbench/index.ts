/** The door of this room: what other rooms use of it. */
export { runCheck } from './check-command.ts';
export { mermaid } from './drawing/mermaid.ts';
export { moduleGraph, moduleMermaid } from './drawing/module-drawing.ts';
export { programGraph, type ScenarioGraph } from './drawing/graph.ts';
export { scenarioSchema } from './schema/json-schema.ts';
export { typeDeclarations } from './schema/type-declarations.ts';
export { runSimulate } from './simulation/simulate-command.ts';
export type { ClassesFor, SelectEntities, SimulatedClasses } from './simulation/simulated-model.ts';
export { runTests } from './tests/test-command.ts';
export { type TestedText, testText } from './tests/test-text.ts';
export { runWatching } from './tests/watching.ts';
export { asTest, servedBy } from './trace/as-test.ts';
export { ReplayError } from './trace/replayable.ts';
export { verifiedTest } from './trace/verified-test.ts';
export { runsText } from './trace/runs-text.ts';
export { traceText } from './trace/trace-text.ts';
