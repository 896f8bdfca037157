/** The door of this room: what other rooms use of it. */
export type { CallEnder, CallState, PlaySource } from './call-words.ts';
export { checkFile, checkText } from './checker/check-file.ts';
export { modulesBeside, type ReadModule } from './checker/module/imports.ts';
export { type CheckResult, checkScenario } from './checker/check-scenario.ts';
export { type CheckedScenario, checkTogether } from './checker/flow/together.ts';
export { checkModule, type ModuleCheckOptions } from './checker/module/check-module.ts';
export { childrenOf, defaultExport } from './checker/module/walk.ts';
export { BUILT_IN_RECORDS, BUILT_IN_VALUES } from './checker/names/names.ts';
export { type Entry, scalarText } from './checker/text/source.ts';
export { YamlSource } from './checker/text/yaml-source.ts';
export {
  type ComponentDefinition,
  type ComponentDefinitions,
  END,
  ERROR_EXIT,
  type Outcome,
  type ResultField,
} from './component.ts';
export { DURATION_PATTERN, parseDuration } from './duration.ts';
export { authorCode, type ErrorCode, type ErrorFacts, SCENARIO_ERROR_CODES, SCENARIO_ERRORS } from './error-codes.ts';
export { ArgumentError, INTERRUPT, ScenarioError } from './errors.ts';
export { NOW, type Scope } from './expression/expression.ts';
export { filesBelow, isBlockScenario, isModuleScenario, isTestFile } from './files.ts';
export {
  effectiveLimits,
  limitsProblem,
  type LimitsWanted,
  readLimits,
  type ScenarioLimits,
  scriptLimits,
} from './limits.ts';
export { CALL_INFO, methodOf, methods, SCENARIO_INFO, usesCall } from './method.ts';
export { formatProblem, isMistake, type Problem, suggestName } from './problem.ts';
export {
  type Block,
  type Compiled,
  asksInSecret,
  evaluate,
  expressionsOf,
  type Interrupt,
  INTERRUPT_KINDS,
  type InterruptKind,
  type ModuleSource,
  type Parameter,
  type Program,
  beginsCalls,
  runsScripts,
  type ScriptPlaces,
  type Start,
} from './program.ts';
export {
  isSoundProblem,
  LANGUAGE,
  languageTag,
  namesDomainPrompt,
  promptFile,
  promptLanguages,
  readSound,
  resolveSound,
} from './prompts.ts';
export type {
  ProgramRequest,
  ScenarioSnapshot,
  ScenarioSource,
  ScenarioUse,
  StartingScenario,
} from './scenario-source.ts';
export { CURRENCY, formatNumber, formatTime, moneyFormat, timeFormat, timeOf, usable } from './formats.ts';
export { isTimezone } from './checker/blocks/starts.ts';
export { nameOfSecret, withSecretsNamed } from './secret-names.ts';
export { Assignments, Condition, Duration, listOf, settingKind, Sounds } from './setting.ts';
export {
  heldValue,
  isOfType,
  plainText,
  toCel,
  type Value,
  VALUE_TYPES,
  type ValueType,
  ZERO_VALUES,
} from './values.ts';
