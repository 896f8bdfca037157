/** A scenario that an author works on: its text, what the checker says of it, its graph, and saving it. */
import { signal } from '@preact/signals';
import { ApiError, read, send } from '../lib/api.ts';
import { keep, kept } from '../lib/kept.ts';
import { type Graph, isFile, type Kind, pathOf, type Problem, type Script, type ScriptData } from './scenario-types.ts';

/** What somebody else saved meanwhile: of a 409. */
export interface Conflict {
  readonly current: { readonly version: number; readonly scriptdata: ScriptData };
}

interface Unsaved {
  readonly source: string;
  /** The version that it was made from. */
  readonly base: number;
}

const CHECK_MS = 350;

export class OpenScenario {
  readonly kind: Kind;
  readonly id: string;
  /** Undefined before the first answer. */
  readonly script = signal<Script | undefined>(undefined);
  readonly text = signal('');
  readonly problems = signal<readonly Problem[]>([]);
  readonly graph = signal<Graph | undefined>(undefined);
  /** Loading, checking or saving failed. */
  readonly failure = signal<unknown>(undefined);
  readonly conflict = signal<Conflict | undefined>(undefined);
  /** Unsaved text of an earlier visit was found. */
  readonly restored = signal(false);
  readonly saving = signal(false);
  /** Counts texts that came from elsewhere, which an editor has to take over. */
  readonly replaced = signal(0);
  #base = 0;
  #checked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(kind: Kind, id: string) {
    this.kind = kind;
    this.id = id;
  }

  get isChanged(): boolean {
    const { value: script } = this.script;
    return script !== undefined && script.scriptdata.source !== this.text.value;
  }

  /** Reads it; unsaved text of an earlier visit comes back. */
  async load(): Promise<void> {
    try {
      const script = await read<Script>(this.#path);
      const unsaved = this.#unsaved();
      this.#base = unsaved?.base ?? script.version;
      this.restored.value = unsaved !== undefined && unsaved.source !== script.scriptdata.source;
      this.script.value = script;
      this.text.value = unsaved?.source ?? script.scriptdata.source;
      this.replaced.value += 1;
      this.failure.value = undefined;
      this.#check();
    } catch (error) {
      this.failure.value = error;
    }
  }

  /** The author typed. */
  typed(text: string): void {
    if (text === this.text.value) return;
    this.text.value = text;
    this.#keepUnsaved();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), CHECK_MS);
  }

  /** Takes another text in place of the typed one; the editor can undo it. */
  replace(text: string): void {
    this.typed(text);
    this.replaced.value += 1;
  }

  /** Takes the text of a conflict into the editor, which can undo it, and goes on from there. */
  takeTheirs(source: string, version: number): void {
    this.#base = version;
    this.conflict.value = undefined;
    this.replace(source);
    void this.refresh().catch((error: unknown) => (this.failure.value = error));
  }

  /** Goes back to the saved text. */
  discard(): void {
    const { value: script } = this.script;
    if (script === undefined) return;
    this.#base = script.version;
    this.restored.value = false;
    this.replace(script.scriptdata.source);
  }

  /**
   * Saves the text. A file of the node becomes a script of the domain in its place.
   *
   * @param over the version of somebody else that it replaces knowingly
   * @returns the saved script; undefined when it was not saved, see `failure` and `conflict`
   */
  async save(draft: boolean, over?: number): Promise<Script | undefined> {
    const { value: script } = this.script;
    if (script === undefined || this.saving.value) return undefined;
    const scriptdata = { ...script.scriptdata, source: this.text.value };
    this.saving.value = true;
    try {
      const { code, name } = script;
      const saved = isFile(script)
        ? await this.#create({ code, name, draft, scriptdata })
        : await send<Script>('PATCH', this.#path, { scriptdata, draft, base_version: over ?? this.#base });
      this.failure.value = undefined;
      this.conflict.value = undefined;
      if (!isFile(script)) await this.#saved(scriptdata.source);
      else keep(this.#key, '');
      return saved;
    } catch (error) {
      const current = error instanceof ApiError && error.status === 409 ? error.details['current'] : undefined;
      if (current === undefined) this.failure.value = error;
      else this.conflict.value = { current: current as Conflict['current'] };
      return undefined;
    } finally {
      this.saving.value = false;
    }
  }

  /** Changes other fields. @throws as `send` */
  async change(fields: object): Promise<void> {
    await send('PATCH', this.#path, fields);
    await this.refresh();
  }

  /** One step back. @throws as `send` */
  async rollBack(): Promise<void> {
    await send('POST', `${this.#path}!rollback`);
    await this.refresh();
  }

  /** Reads what serves, and leaves the typed text. */
  async refresh(): Promise<void> {
    const changed = this.isChanged;
    const script = await read<Script>(this.#path);
    this.script.value = script;
    if (changed) return;
    this.#base = script.version;
    if (script.scriptdata.source !== this.text.value) this.replace(script.scriptdata.source);
  }

  /** Ends what is pending. */
  close(): void {
    clearTimeout(this.#timer);
  }

  get #path(): string {
    return `${pathOf(this.kind)}/${encodeURIComponent(this.id)}`;
  }

  get #key(): string {
    return `text-${this.kind}-${this.id}`;
  }

  async #create(fields: object): Promise<Script> {
    const { id } = await send<{ id: string }>('POST', pathOf(this.kind), fields);
    return await read<Script>(`${pathOf(this.kind)}/${encodeURIComponent(id)}`);
  }

  async #saved(source: string): Promise<void> {
    const script = await read<Script>(this.#path);
    // Somebody else may have saved in the meantime: the next save finds that.
    this.#base = script.scriptdata.source === source ? script.version : script.version - 1;
    this.script.value = script;
    this.restored.value = false;
    this.#keepUnsaved();
    if (!this.isChanged) this.problems.value = script.problems;
  }

  /** Typed text survives the end of the page. */
  #keepUnsaved(): void {
    const unsaved: Unsaved = { source: this.text.value, base: this.#base };
    keep(this.#key, this.isChanged ? JSON.stringify(unsaved) : '');
  }

  #unsaved(): Unsaved | undefined {
    const text = kept(this.#key) ?? '';
    return text === '' ? undefined : (JSON.parse(text) as Unsaved);
  }

  #check(): void {
    const { value: script } = this.script;
    if (script === undefined) return;
    const source = this.text.value;
    this.#checked += 1;
    const turn = this.#checked;
    const body = { code: script.code, draft: true, scriptdata: { ...script.scriptdata, source } };
    const latest = (done: () => void): void => {
      if (turn === this.#checked) done();
    };
    const failed = (error: unknown): void => latest(() => (this.failure.value = error));
    // An unchanged text keeps the problems that it was saved with: files have their own prompts.
    if (!this.isChanged) this.problems.value = script.problems;
    else if (source !== '')
      send<{ problems: readonly Problem[] }>('POST', `${pathOf(this.kind)}!check`, body).then(
        ({ problems }) => latest(() => (this.problems.value = problems)),
        failed,
      );
    if (source === '') this.graph.value = { nodes: [], edges: [] };
    else
      send<Graph>('POST', `${pathOf(this.kind)}!draw`, body).then(
        (graph) =>
          latest(() => {
            this.failure.value = undefined;
            // A text in the middle of a change may not be readable.
            if (graph.nodes.length > 0 || this.graph.value === undefined) this.graph.value = graph;
          }),
        failed,
      );
  }
}
