/** The door of this room: what other rooms use of it. */
export { rememberCompiled } from './compiled.ts';
export { promptsOf, ScriptCompiler, withoutFile } from './compile.ts';
export { tokenConfirmer } from './confirm-token.ts';
export { formatOf } from './file-versions.ts';
export { ScriptStore } from './script-store.ts';
export { FileNumbers } from './file-numbers.ts';
