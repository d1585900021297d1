import { describe, expect, it } from "vitest";
import { readEventFilter } from "../../lib/answers/cloud-events/event-filter.ts";
import { scaleEventOf } from "../../lib/answers/cloud-events/scale.ts";
import { noticeEventOf } from "../../lib/answers/cloud-events/notice.ts";
import { eventView } from "../../lib/answers/service/views/event-view.ts";
import { NOON } from "../noon.ts";
import { event } from "../store/records.ts";

const scale = scaleEventOf(eventView(event({ from: 4, to: 9 })), {
  labels: { team: "blue", "app.kubernetes.io/name": "web" },
  inStorm: true,
});
const storm = noticeEventOf({
  ...{ kind: "storm", what: "scale", id: "storm:eu-1:scale:1", atMs: NOON, cluster: "eu-1" },
  ...{ count: 9, namespaces: [] },
});

describe("a filter of events", () => {
  it.each([
    ["kind=scale", true, false],
    ["kind in (scale, storm),cluster=eu-1", true, true],
    ["kind=storm,what=scale", false, true],
    ["cluster=us-1", false, false],
    ["namespace=shop", true, false],
    ["step>=5", true, false],
    ["step >= 6", false, false],
    ["step>=3,step>=5", true, false],
    ["direction=up,outcome=applied", true, false],
    ["labels.team=blue", true, false],
    ["labels.team!=blue", false, true],
    ["labels.app.kubernetes.io/name in (api, web)", true, false],
    ["!storm", false, true],
    ["kind=scale,step>=5,labels.team=blue,namespace=shop", true, false],
  ])("%s: of a scale by five %s, of a storm %s", (text, ofScale, ofStorm) => {
    const wants = readEventFilter(text);
    expect([wants(scale), wants(storm)]).toEqual([ofScale, ofStorm]);
  });

  it.each([
    ["team=blue", '"team" is no field of an event'],
    ["clustr=eu-1", '"clustr" is no field of an event'],
    ["step>5", '"step>5" is no field of an event'],
    ["kind=scale,,", '"" is no field of an event'],
    ["", '"" is no field of an event'],
    ["data", '"data" is no field of an event'],
    ["labels.=x", 'Cannot read the selector "labels.=x"'],
  ])("%j is refused, because it would choose nothing or everything", (text, words) => {
    expect(() => readEventFilter(text)).toThrow(words);
  });
});
