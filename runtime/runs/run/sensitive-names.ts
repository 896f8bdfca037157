/** The names in a scenario of blocks that stand for sensitive answers, or for what was computed from them. */
import { type Block, type Compiled, expressionsOf, type Scope, type Value } from '../../language/index.ts';
import type { ComponentResult } from '../component.ts';
import { MASK, type Sensitive, withHidden } from './sensitive.ts';

export class SensitiveNames {
  readonly #values: Sensitive;
  /** Blocks whose results, and variables whose values, are sensitive. */
  readonly #names = new Set<string>();

  constructor(values: Sensitive) {
    this.#values = values;
  }

  /** The settings are about to be used: what is computed from sensitive names is sensitive. */
  reads(settings: Compiled, scope: Scope): void {
    if (this.#names.size === 0) return;
    for (const expression of expressionsOf(settings))
      if (this.#taints(expression.names)) this.#values.addDerived(expression.evaluate(scope));
  }

  /** Whether the results of the block tell what is sensitive in its settings. */
  derives({ component, settings }: Block): boolean {
    return component.derives === true && this.#isSensitive(settings);
  }

  /**
   * Notes which names a block made sensitive, or no longer are.
   * @param secret true for a block that asked in secret
   */
  ended(block: Block, { fields, assign }: ComponentResult, secret: boolean): void {
    const derives = this.derives(block);
    const kept = new Map<string, boolean>();
    for (const name of Object.keys(assign ?? {})) kept.set(name, derives || this.#isSensitive(entryOf(block, name)));
    if (fields !== undefined) kept.set(block.name, derives || secret);
    for (const [name, isSensitive] of kept) if (isSensitive) this.#names.add(name);
    for (const [name, isSensitive] of kept) if (!isSensitive) this.#names.delete(name);
  }

  /** Changed variables for the trace. */
  shown(variables: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
    return withHidden(variables, this.#names);
  }

  /** The exit for the trace: that of `switch` repeats a value of its settings. */
  exit({ component, settings }: Block, exit: string): string {
    const { openExits, exits } = component;
    if (openExits?.of === undefined || Object.hasOwn(exits, exit)) return exit;
    return this.#isSensitive(settings) ? MASK : exit;
  }

  #isSensitive(settings: Compiled | undefined): boolean {
    if (this.#names.size === 0 || settings === undefined) return false;
    return expressionsOf(settings).some(({ names }) => this.#taints(names));
  }

  #taints(names: ReadonlySet<string>): boolean {
    return this.#names.size > 0 && !names.isDisjointFrom(this.#names);
  }
}

/** The setting from which a variable gets its value. */
function entryOf({ settings }: Block, name: string): Compiled | undefined {
  return settings.kind === 'object' ? settings.entries.get(name) : undefined;
}
