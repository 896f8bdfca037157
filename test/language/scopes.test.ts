import { parse } from 'acorn';
import { expect } from 'chai';
import { namesIn } from '../../runtime/language/checker/names/scopes.ts';

/** Names that are used and not declared, those that are used too early (!), and changed constants (=). */
function found(source: string): string {
  const names = namesIn(
    parse(source, { ecmaVersion: 'latest', sourceType: 'module', allowReturnOutsideFunction: true }),
  );
  return names.references
    .flatMap(({ node, use, binding, early }) => {
      if (early) return [`!${node.name}`];
      if (!binding) return [use === 'read' ? node.name : `${use} ${node.name}`];
      return binding.kind === 'constant' && use !== 'read' && use !== 'typeof' ? [`=${node.name}`] : [];
    })
    .join(' ');
}

describe('names of a script', () => {
  const unknown: readonly (readonly [what: string, source: string, found: string])[] = [
    ['reads, calls and members', 'a; b(); c.d; e[f]; new G(); h`${i}`; ({ j: k, l });', 'a b c e f G h i k l'],
    [
      'assignments',
      'a = 1; b += 1; c++; [d, e.f, ...g] = [h]; ({ i, j: k = l } = {});',
      'set a update b update c set d e set g h set i set k l',
    ],
    ['loops over names', 'for (a of b); for (c in d); for (e = 0; ;);', 'set a b set c d set e'],
    ['typeof', 'typeof a; typeof b.c;', 'typeof a b'],
    ['blocks that are left', '{ let a; const b = 1; } a; b; for (let c = 0; ;) c; c;', 'a b c'],
    ['names of functions and classes from outside', '(function f() { f; }); f; (class A { x = A; }); A;', 'f A'],
    ['classes', 'class A extends B { [c] = d; static { e; } f() { return g; } }', 'B c d e g'],
    ['too early', 'a; let a = 1; const b = b; c(); function c() {} new D(); class D {}', '!a !b !D'],
    ['constants', 'const a = 1, [b] = [1]; a = 2; b++; ({ a } = {}); for (a of []);', '=a =b =a =a'],
  ];
  for (const [what, source, expected] of unknown) it(`finds ${what}`, () => expect(found(source)).to.equal(expected));

  const fine: readonly (readonly [what: string, source: string])[] = [
    ['hoisting', 'f(); function f() { return v + later; } var v; let later = 1;'],
    ['var out of blocks', 'if (f()) { var a = 1; function g() {} } a; g(); function f() {}'],
    ['patterns', 'const { a, b: { c = a }, ...d } = {}, [e, , f = e, ...g] = []; a; c; d; e; f; g;'],
    [
      'parameters and defaults',
      '((a, { b = a }, [c] = [b], ...d) => [a, b, c, d]); (function () { return arguments; });',
    ],
    ['catch with and without a name', 'try { } catch { } try { } catch ({ message }) { message; }'],
    [
      'labels, properties and methods',
      'a: for (;;) { if (1) break a; continue a; } ({ b: 1, c() {}, get d() { return 1; } }).e;',
    ],
    ['class members', 'class A { #a = 1; b = this.#a; static c = 2; d() { return #a in this; } } new A();'],
    [
      'constants that are used later',
      'const a = () => b; const b = () => a; const stop = on(() => stop()); function on(f) { f; } a();',
    ],
    ['a name within another of the same name', 'let a = 1; { let a = 2; a; } (function (a) { a = 2; }); a;'],
    [
      'loops with names of their own',
      'for (const a of [1]) a; for (let i = 0, n = 3; i < n; i++) n; for (const k in {}) k;',
    ],
    ['a switch', 'switch (1) { case 1: let a = 1; a; break; default: a = 2; }'],
    ['exports before the declaration', 'export { a as default, b }; const a = 1; function b() {}'],
    ['first values from names beside them', 'const [a = 1, b = a] = []; let c = 1, d = c; b; d;'],
    ['meta properties', '(function () { return new.target; });'],
  ];
  for (const [what, source] of fine) it(`says nothing of ${what}`, () => expect(found(source)).to.equal(''));

  it('are unresolved where with or eval may declare them', () => {
    const open = (source: string): boolean => namesIn(parse(source, { ecmaVersion: 'latest' })).open;
    expect([open('with (a) b;'), open('eval("var c"); c;'), open('a;')]).to.deep.equal([true, true, false]);
  });
});
