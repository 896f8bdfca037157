/** The table of all error codes, for authors. */
import { type ComponentDefinitions, type ErrorFacts, SCENARIO_ERRORS } from '../../runtime/language/index.ts';
import { code, table } from './page.ts';

/** The page of errors with the list of all codes between its two marks. */
export function withErrorList(page: string, components: ComponentDefinitions): string {
  const rows = Object.entries<ErrorFacts>(SCENARIO_ERRORS).map(([name, { meaning, remedy, from }]) => [
    code(name),
    meaning,
    remedy,
    typeof from === 'string' ? from : from.map((each) => linked(each, components)).join(', '),
  ]);
  const list = table(['Code', 'Cause', 'What to do', 'Comes from'], rows);
  return page.replace(
    /(<!-- errors -->)[^]*(<!-- \/errors -->)/,
    (_, begin: string, end: string) => `${begin}\n\n${list}\n\n${end}`,
  );
}

function linked(from: string, components: ComponentDefinitions): string {
  return components.has(from) ? `[${from}](../../components/${from})` : from;
}
