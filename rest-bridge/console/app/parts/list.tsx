/** A list of any length: only the rows in sight are in the page. Arrows move, Enter opens (ARIA grid). */
import { type Signal, signal, useSignal } from '@preact/signals';
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Language, language } from '../lib/words.ts';
import { words } from '../words/shell.ts';

export interface Column<T> {
  readonly title: () => string;
  /** Of `grid-template-columns`. */
  readonly width: string;
  readonly cell: (item: T) => ComponentChildren;
  /** Not shown on narrow screens. */
  readonly wide?: boolean;
  /** Numbers are aligned right. */
  readonly number?: boolean;
}

export interface ListProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  /** Made once, outside of the component: rows are drawn anew when it changes. */
  readonly columns: readonly Column<T>[];
  readonly onOpen?: (item: T) => void;
  /** Said in place of rows. */
  readonly empty?: string;
}

/** Pixels. A row grows with the size of text that the browser is set to. */
const ROW = Math.round(2.43 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
const SPARE = 8;

export function List<T>({ label, items, columns, onOpen, empty }: ListProps<T>) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const visible = useSignal(30);
  const { first, active, hasFocus } = useMemo(() => placeAt(`${label} ${location.hash}`), []);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      visible.value = Math.ceil(element.clientHeight / ROW) + 1;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const hasItems = items.length > 0;
  // Who comes back from a row is where they were.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!hasItems || element === null) return;
    element.scrollTop = first.value * ROW;
    if (hasFocus.value && isFree(document.activeElement)) element.focus({ preventScroll: true });
  }, [hasItems]);
  useEffect(() => {
    if (hasItems && active.value >= items.length) active.value = Math.max(0, items.length - 1);
  }, [items.length]);

  const move = (to: number): void => {
    const index = Math.max(0, Math.min(items.length - 1, to));
    active.value = index;
    const element = scroller.current;
    if (element === null) return;
    // The head of the list covers the first row.
    const top = index * ROW;
    const height = element.clientHeight - ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + height) element.scrollTop = top + ROW - height;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, visible.value - 3);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const step = steps[event.key];
    if (step !== undefined) move(active.value + step);
    else if (event.key === 'Home') move(0);
    else if (event.key === 'End') move(items.length - 1);
    else if (event.key === 'Enter' && items[active.value] !== undefined) onOpen?.(items[active.value] as T);
    else return;
    event.preventDefault();
  };

  const from = Math.max(0, Math.min(first.value, items.length - 1) - SPARE);
  const slots = visible.value + 2 * SPARE;
  const shown = items.slice(from, first.value + visible.value + SPARE);
  const widths = (of: readonly Column<T>[]): string => of.map(({ width }) => width).join(' ');
  // A small screen has room for all columns that are for it.
  const narrow = widths(columns.filter(({ wide }) => wide !== true)).replaceAll(/minmax\([\d.]+em/g, 'minmax(3em');
  return (
    <div
      ref={scroller}
      class="list"
      style={{
        '--row': `${ROW}px`,
        '--columns': widths(columns),
        '--narrow': narrow,
      }}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={items.length + 1}
      aria-activedescendant={items.length > 0 ? `${id}-${active.value}` : undefined}
      onKeyDown={onKeyDown}
      onFocus={() => (hasFocus.value = true)}
      onBlur={({ relatedTarget }) => {
        if (relatedTarget !== null) hasFocus.value = false;
      }}
      onScroll={({ currentTarget }) => {
        first.value = Math.floor(currentTarget.scrollTop / ROW);
      }}
    >
      <div class="row head" role="row" aria-rowindex={1}>
        {columns.map(({ title, wide, number }, column) => (
          <span key={column} role="columnheader" class={classOf(wide, number)}>
            {title()}
          </span>
        ))}
      </div>
      <div class="rows" role="rowgroup" style={{ height: `${items.length * ROW}px` }}>
        {shown.map((item, index) => (
          <Row
            // Rows that leave at one end are filled anew at the other: that is faster than new ones.
            key={(from + index) % slots}
            id={`${id}-${from + index}`}
            item={item}
            index={from + index}
            active={from + index === active.value}
            columns={columns as readonly Column<unknown>[]}
            language={language.value}
            onPress={(pressed) => {
              active.value = pressed;
              const found = items[pressed];
              if (found !== undefined) onOpen?.(found);
            }}
            opens={onOpen !== undefined}
          />
        ))}
      </div>
      {items.length === 0 && <p class="empty">{empty ?? words('empty')}</p>}
    </div>
  );
}

interface Place {
  /** Index of the first row in sight. */
  readonly first: Signal<number>;
  /** Index of the row that the keys are at. */
  readonly active: Signal<number>;
  readonly hasFocus: Signal<boolean>;
}

const MOST_PLACES = 50;
const places = new Map<string, Place>();

/** Where a person is in a list, kept while the console is open. */
function placeAt(key: string): Place {
  const place = places.get(key) ?? { first: signal(0), active: signal(0), hasFocus: signal(false) };
  places.delete(key);
  places.set(key, place);
  const [oldest] = places.keys();
  if (places.size > MOST_PLACES && oldest !== undefined) places.delete(oldest);
  return place;
}

/** Nothing that a person chose has the focus. */
function isFree(element: Element | null): boolean {
  return element === null || element === document.body || element.matches('main');
}

function classOf(wide: boolean | undefined, number: boolean | undefined): string {
  return [wide === true && 'wide', number === true && 'number'].filter(Boolean).join(' ');
}

interface RowProps {
  readonly id: string;
  readonly item: unknown;
  readonly index: number;
  readonly active: boolean;
  readonly columns: readonly Column<unknown>[];
  /** Of the texts in its cells. */
  readonly language: Language;
  readonly onPress: (index: number) => void;
  readonly opens: boolean;
}

class Row extends Component<RowProps> {
  /** `onPress` is new at each drawing, and does the same. */
  override shouldComponentUpdate(now: RowProps): boolean {
    const before = this.props;
    return (
      before.item !== now.item ||
      before.index !== now.index ||
      before.active !== now.active ||
      before.columns !== now.columns ||
      before.language !== now.language
    );
  }

  override render({ id, item, index, active, columns, onPress, opens }: RowProps) {
    return (
      <div
        id={id}
        class={`row${active ? ' active' : ''}${opens ? ' opens' : ''}`}
        role="row"
        aria-rowindex={index + 2}
        aria-selected={active}
        style={{ transform: `translateY(${index * ROW}px)` }}
        onClick={() => onPress(index)}
      >
        {columns.map(({ cell, wide, number }, column) => (
          <span key={column} role="gridcell" class={classOf(wide, number)}>
            {cell(item)}
          </span>
        ))}
      </div>
    );
  }
}
