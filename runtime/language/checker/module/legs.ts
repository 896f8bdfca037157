import type { CallExpression, Expression, ObjectExpression, Property } from 'acorn';
import type { ComponentDefinition } from '../../component.ts';
import { usesCall } from '../../method.ts';
import { suggestName } from '../../problem.ts';
import { nameOf } from './literals.ts';
import { WITH_CALLER, withItself } from '../flow/legs.ts';
import type { Reference } from '../names/scopes.ts';
import type { Report } from '../names/unknown-names.ts';

/** A leg that is named by a literal. */
interface NamedLeg {
  readonly name: string;
  readonly start: number;
}

/** Finds legs that a module uses but never calls. Reports nothing when a leg's name is computed at run time. */
export class ModuleLegs {
  readonly #called = new Set<string>();
  readonly #used: NamedLeg[] = [];
  /** Legs that are connected with themselves. */
  readonly #selves: NamedLeg[] = [];
  #isUnsure = false;

  /** A call of a component's function. */
  note(component: ComponentDefinition, { arguments: [first] }: CallExpression): void {
    if (!usesCall(component)) return;
    const settings = first?.type === 'ObjectExpression' ? first : undefined;
    const leg = settings && settingOf(settings, 'leg');
    if (component.placesCall === true) this.#place(first, leg);
    else this.#use(leg?.value);
    const { legSetting, shorthand } = component;
    if (legSetting === undefined) return;
    const other = settings && settingOf(settings, legSetting)?.value;
    const name = other && textOf(other);
    if (other && leg && name !== undefined && name === textOf(leg.value))
      this.#selves.push({ name, start: other.start });
    if (settings) this.#use(other);
    else if (shorthand === legSetting && first?.type !== 'SpreadElement') this.#use(first);
  }

  /** A use of `call` itself, which may be passed to code that is not checked. */
  owner({ node, around: [member, user] }: Reference): void {
    const isMember = member?.type === 'MemberExpression' && member.object === node && !member.computed;
    const isCalled = user?.type === 'CallExpression' && user.callee === member;
    if (!isMember || !isCalled) this.unsure();
  }

  /** The module may call legs that the checker cannot see. */
  unsure(): void {
    this.#isUnsure = true;
  }

  check(report: Report): void {
    for (const { name, start } of this.#selves) report(start, withItself(name), WITH_CALLER);
    if (this.#isUnsure) return;
    for (const { name, start } of this.#used) {
      if (this.#called.has(name)) continue;
      const instead =
        name === 'caller'
          ? 'take it out: without it a function is for the caller'
          : (suggestName(name, [...this.#called]) ?? `write await call.call({ to: '102', leg: '${name}' }) before`);
      report(start, `no call has the name "${name}"`, instead);
    }
  }

  #place(first: CallExpression['arguments'][number] | undefined, leg: Property | undefined): void {
    const name = leg && textOf(leg.value);
    if (name !== undefined) this.#called.add(name);
    const isKnown =
      first?.type === 'ObjectExpression' &&
      first.properties.every((each) => each.type === 'Property' && !each.computed);
    if (!isKnown || (leg && name === undefined)) this.unsure();
  }

  #use(value: Expression | undefined): void {
    const name = value && textOf(value);
    if (value && name !== undefined) this.#used.push({ name, start: value.start });
  }
}

function settingOf({ properties }: ObjectExpression, name: string): Property | undefined {
  return properties.find(
    (each): each is Property => each.type === 'Property' && !each.computed && nameOf(each.key) === name,
  );
}

function textOf(value: Expression): string | undefined {
  return value.type === 'Literal' && typeof value.value === 'string' ? value.value : undefined;
}
