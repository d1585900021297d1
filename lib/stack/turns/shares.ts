/**
 * What flows spend in one sync, by resource: calls, bytes, pods that rules look at, requests. Each
 * resource has the most that one flow may spend of it. A flow over its share waits for the next
 * sync, and no other flow does. Shares of what is known before it is asked for are divided by
 * `overShare` (turns.ts).
 */
export interface FlowShares<Resource extends string, Flow extends string = string> {
  /**
   * Spends the amount where it fits into the share. False: it does not fit, and nothing is spent.
   * The first amount of a flow always fits.
   */
  readonly take: (flow: Flow, resource: Resource, amount: number) => boolean;
  /** Spends what was not known before, such as the bytes of an answer. */
  readonly spend: (flow: Flow, resource: Resource, amount: number) => void;
  readonly spent: (flow: Flow, resource: Resource) => number;
  /** What the flows that have spent something have spent of this resource. */
  readonly all: (resource: Resource) => ReadonlyMap<Flow, number>;
  /** The first resource of which the flow has spent its share. */
  readonly usedUp: (flow: Flow) => UsedUp<Resource> | undefined;
}

export interface UsedUp<Resource extends string> {
  readonly resource: Resource;
  readonly spent: number;
  readonly most: number;
}

export const flowShares = <Resource extends string, Flow extends string = string>(
  most: Readonly<Record<Resource, number>>,
): FlowShares<Resource, Flow> => {
  const resources = Object.keys(most) as unknown as readonly Resource[];
  const flows = new Map<Flow, Map<Resource, number>>();
  const spent = (flow: Flow, resource: Resource): number => flows.get(flow)?.get(resource) ?? 0;
  const spend = (flow: Flow, resource: Resource, amount: number): void => {
    const own = flows.get(flow) ?? new Map<Resource, number>();
    flows.set(flow, own);
    own.set(resource, (own.get(resource) ?? 0) + amount);
  };
  return {
    take: (flow, resource, amount) => {
      const before = spent(flow, resource);
      if (before > 0 && before + amount > most[resource]) return false;
      spend(flow, resource, amount);
      return true;
    },
    spend,
    spent,
    all: (resource) => new Map([...flows.keys()].map((flow) => [flow, spent(flow, resource)])),
    usedUp: (flow) => {
      const resource = resources.find((each) => spent(flow, each) >= most[each]);
      return resource && { resource, spent: spent(flow, resource), most: most[resource] };
    },
  };
};

export interface HeavyBounds {
  /** A flow is heavy from here on, */
  readonly least: number;
  /** where it has more than this part of what all flows have together. */
  readonly part: number;
  /** Most heavy flows. */
  readonly flows: number;
}

/** The flows that have much more than the others. Their work is done after the work of the others. */
export const heaviest = <Flow extends string>(
  weights: ReadonlyMap<Flow, number>,
  { least, part, flows }: HeavyBounds,
): ReadonlySet<Flow> => {
  let sum = 0;
  for (const weight of weights.values()) sum += weight;
  const most = Math.max(least, part * sum);
  const heavy = [...weights]
    .filter(([, weight]) => weight > most)
    .toSorted(([, one], [, other]) => other - one);
  return new Set(heavy.slice(0, flows).map(([flow]) => flow));
};
