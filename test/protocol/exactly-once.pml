/*
 * The protocol of one partition with one workload: claim, load, observe, settle, decide, waves of intend, act and settle, page, release.
 * Two workers, invoked FIRST_ROUNDS and SECOND_ROUNDS times (a duplicate of the message is a second worker at the same moment), may stand still, die or get no
 * answer at every step. A PUT may land late. LATE_WRITES writes of the tables may land at any later time. Clocks differ. A person edits the count. A proxy before the
 * API server may send a PUT twice. The lease is left out on purpose: nothing may depend on it. docs/proofs.md explains the bounds and what is not modelled;
 * lib/stack/sync and lib/stack/store carry the names of the steps.
 *
 * Each LEFT_OUT_ macro takes one rule away; `npm run prove -- model` shows that the whole protocol holds and what breaks without each rule.
 */
#ifndef FIRST_ROUNDS
#define FIRST_ROUNDS 1               /* invocations of the first worker */
#endif
#ifndef SECOND_ROUNDS
#define SECOND_ROUNDS 1              /* invocations of the second */
#endif
#ifndef EDITS
#define EDITS 0                      /* edits of the count, or of the object, by a person */
#endif
#ifndef LATE_WRITES
#define LATE_WRITES 0                /* writes of the tables that land after the worker gave them up */
#endif
#define EPOCHS (FIRST_ROUNDS + SECOND_ROUNDS + 1)      /* epochs count from 1; each stores at most one intent of the workload */
#define GENERATIONS (EPOCHS + 1)

/* Times, in ticks. LIFE: longest life of an invocation. SERVER: how long the API server may still execute a PUT. DIFF: largest difference of two clocks. */
#define LIFE 1
#define SERVER 1
#ifndef DIFF
#define DIFF 0
#endif
#ifndef WINDOW
#define WINDOW 3                     /* the rate limit: one scale per WINDOW */
#endif
#ifndef END
#define END 7                        /* time stops here */
#endif

#ifdef LEFT_OUT_CLOCK_DIFFERENCE
#define MARGIN 0
#else
#define MARGIN DIFF
#endif
#define DEADLINE(decided) (decided + LIFE + SERVER + MARGIN)
#ifdef LEFT_OUT_DEADLINE
#define PAST(deadline) true
#else
#define PAST(deadline) (nowMs > deadline)
#endif

/* The condition of each write of the head (HOLDER_CONDITION), for the epoch and the write number that its sender knows. */
#if defined(LEFT_OUT_EPOCH_OF_INTEND) && defined(LEFT_OUT_NUMBER_OF_INTEND)
#define INTEND_HOLDS(e, w) true
#elif defined(LEFT_OUT_EPOCH_OF_INTEND)
#define INTEND_HOLDS(e, w) (writes == w)
#elif defined(LEFT_OUT_NUMBER_OF_INTEND)
#define INTEND_HOLDS(e, w) (epoch == e)
#else
#define INTEND_HOLDS(e, w) (epoch == e && writes == w)
#endif
#if defined(LEFT_OUT_EPOCH_OF_RELEASE) && defined(LEFT_OUT_NUMBER_OF_RELEASE)
#define RELEASE_HOLDS(e, w) true
#elif defined(LEFT_OUT_EPOCH_OF_RELEASE)
#define RELEASE_HOLDS(e, w) (writes == w)
#elif defined(LEFT_OUT_NUMBER_OF_RELEASE)
#define RELEASE_HOLDS(e, w) (epoch == e)
#else
#define RELEASE_HOLDS(e, w) (epoch == e && writes == w)
#endif

/* The condition of a page: that it is as it was read (AS_READ), or for a page that no head names yet, that its writer is earlier (NOT_NAMED). */
#define NEW 255
#ifdef LEFT_OUT_PAGE_AS_READ
#define AS_READ(g, read) true
#else
#define AS_READ(g, read) (pageEpoch[g] == read)
#endif
#ifdef LEFT_OUT_PAGE_NOT_NAMED
#define NOT_NAMED(g, e) true
#else
#define NOT_NAMED(g, e) (pageEpoch[g] < e)
#endif

mtype = { none, applied, refused, unknown };                     /* outcome of an event */
mtype = { idle, flying, done, conflict, denied, gone };          /* a PUT on its way; denied: any 4xx but 409 */
mtype = { absent, open, uncounted };                             /* the entry of the workload in the head */
mtype = { noToken, claiming, others, intending, counting, releasing };      /* what the last write of the head was */
mtype = { nothing, entries, insert, page, release };             /* a write that lands late */

byte now = 0;
byte skew[2];

/* The cluster. */
byte count = 1, generation = 1, version = 1;
mtype put[EPOCHS] = idle;
byte putVersion[EPOCHS], putEnds[EPOCHS];

/* What each epoch decided: the content of its intent, and the scales that its windows counted (a bit for each epoch). */
byte wanted[EPOCHS], decidedGeneration[EPOCHS], decidedVersion[EPOCHS], decidedMs[EPOCHS], windows[EPOCHS];

/* The tables: the head with its one possible entry, the pages by generation, the history. */
byte epoch = 0, writes = 0, headNow = 0, headGeneration = 0, dueDone = 0;
byte tokenEpoch = 0; mtype token = noToken;
mtype entry = absent; byte entryEpoch = 0, entryMs = 0;
byte pageEpoch[GENERATIONS], pageCounted[GENERATIONS], pageLast[GENERATIONS];      /* pageLast: when the last counted scale was, plus one; 0 = never */
mtype event[EPOCHS] = none;

/* One write that was given up and may land later, with all that its request says. */
byte lateLeft = LATE_WRITES;
mtype lateKind = nothing, lateToken, lateEntry, lateOutcome;
byte lateEpoch, lateNumber, lateEntryEpoch, lateEntryMs, lateNow, lateGeneration, lateRead, lateCounted, lateLast, lateDue;

/* The truth, which no worker sees. */
byte effects[EPOCHS];
byte effected = 0;                   /* a bit for each epoch whose PUT took effect */
byte lastEffect = 0; bool anyEffect = false;
bool written = false;                /* whether the write that was just sent was executed; false outside of a step */

byte promise = 0;                    /* always 0: it puts the number of a broken promise into the message of the search (promises.ts) */
#define MUST(number, holds) assert((holds) || promise == number)

#define BIT(e) (1 << e)
#define CLOCK (now + skew[me])
#define ALIVE (now <= started + LIFE)
#define LATEST(a, b) (((a) > (b)) -> (a) : (b))

/*
 * The platform ends an invocation that outlives LIFE; a crash may end any at any step. LATE_END: the end comes a tick late, but nothing comes between the check of the
 * clock and the PUT. Either is enough where the other does not fail.
 */
#ifdef LEFT_OUT_END_OF_STALLED
#define step  if :: true :: goto dead fi
#define MAY_SEND true
#else
#ifdef LATE_END
#define step  if :: now <= started + LIFE + 1 :: goto dead fi
#define MAY_SEND true
#else
#define step  if :: ALIVE :: goto dead fi
#define MAY_SEND ALIVE
#endif
#endif

/* Asked of the head after a refusal. Without a token for each write, the token of a later claim of the same process is taken for the own one. */
#ifdef LEFT_OUT_OWN_TOKEN
#define DONE(kind) true
#else
#define DONE(kind) (tokenEpoch == mine && token == kind)
#endif

#ifdef LEFT_OUT_INTENT_EPOCH
#define EVENT_ID(e) mine             /* the epoch of the sync that settles */
#else
#define EVENT_ID(e) e
#endif

#ifdef NO_GENERATION                 /* a kind without metadata.generation */
#define MOVED(generationThen, versionThen) (seenVersion != versionThen)
#define ONE_OTHER_CHANGE false
#else
#define MOVED(generationThen, versionThen) (seenGeneration != generationThen)
#define ONE_OTHER_CHANGE (seenGeneration == sentGeneration + 1 && seenCount != wanted[mine])
#endif

/* What must hold whenever a PUT takes effect: a stored intent that every later holder counts, once, and never two inside one window. */
inline takeEffect(e) {
  MUST(1, (entry == open && entryEpoch == e) || event[e] == applied || event[e] == unknown);
  MUST(2, !anyEffect || now + DIFF >= lastEffect + WINDOW);
  MUST(3, effects[e] == 0);
  effects[e]++; effected = effected | BIT(e); lastEffect = now; anyEffect = true;
  count = wanted[e]; generation++; version++
}

/* The API server executes the PUT of one intent under the version it carries, until putEnds; or it never does. With a proxy, the answer may be about a second copy. */
proctype Server(byte e) {
end:
  do
  :: atomic { put[e] == flying && now <= putEnds[e] && putVersion[e] == version ->
       takeEffect(e);
       if
       :: put[e] = done
#ifdef PROXY
       :: put[e] = conflict
       :: put[e] = denied
#endif
       fi }
  :: atomic { put[e] == flying && now <= putEnds[e] && putVersion[e] != version -> put[e] = conflict }
#ifdef PROXY
  :: atomic { put[e] == flying && now <= putEnds[e] -> put[e] = denied }
#endif
  :: atomic { put[e] == flying && now > putEnds[e] -> put[e] = gone }
  od
}

proctype Person() {
  byte left = EDITS;
end:
  do
  :: atomic { left > 0 -> left--; count++; generation++; version++ }
  :: atomic { left > 0 -> left--; version++ }       /* status, labels: the version alone moves */
  od
}

proctype Time() {
end:
  do
  :: atomic { now < END -> now++ }
  od
}

/*
 * One update of the head: the entry of the workload as the sender wants it. An intent is stored once, when none is open, by a worker whose windows count every effect. An update
 * of other workloads leaves it where it is.
 */
inline storeEntries(e, number, kind, ofEpoch, ofMs, at, as) {
  written = false;
  if
  :: INTEND_HOLDS(e, number) ->
     MUST(10, at >= headNow);
     if
     :: kind == open ->
        MUST(4, entry == absent || (entry == open && entryEpoch == ofEpoch));
        MUST(5, entry == open || event[ofEpoch] == none);
        MUST(6, entry == open || (effected & ~windows[ofEpoch] & ~BIT(ofEpoch)) == 0)
     :: else -> MUST(7, entry == absent || (kind == uncounted && entryEpoch == ofEpoch && event[ofEpoch] != none))
     fi;
     entry = kind; entryEpoch = ofEpoch; entryMs = ofMs; headNow = at;
     writes++; tokenEpoch = e; token = as; written = true
  :: else
  fi
}

/* One insert: a duplicate changes nothing, and the stored outcome is the one that counts. */
inline insertEvent(id, forEpoch, told) {
  MUST(8, told != refused || effects[forEpoch] == 0);
  if
  :: event[id] == none -> event[id] = told
  :: else
  fi
}

/*
 * One page, in place (read: its epoch as it was read) or in a generation that no head names yet (read: NEW). A page that the head names never loses a scale that it counted. One that the
 * head does not name is what a dead worker has left.
 */
inline storePage(e, g, read, counted, lastMs) {
  written = false;
  if
  :: (read == NEW && NOT_NAMED(g, e)) || (read != NEW && AS_READ(g, read)) ->
     MUST(9, (read == NEW && g != headGeneration) || (pageCounted[g] & ~counted) == 0);
     MUST(10, (read == NEW && g != headGeneration) || lastMs >= pageLast[g]);
     pageEpoch[g] = e; pageCounted[g] = counted; pageLast[g] = lastMs; written = true
  :: else
  fi
}

/*
 * One update of the head that ends a sync. What leaves the head has its event and, unless refused, is on the page that this update names; nothing comes back into it. The page that was
 * named before may count a scale that stays in the head: an overtaken worker wrote it after the page was read, and a later holder counts the scale.
 */
#define KEPT(kind, e) ((kind != absent) -> BIT(e) : 0)
inline storeRelease(e, number, kind, ofEpoch, ofMs, at, g, due) {
  written = false;
  if
  :: RELEASE_HOLDS(e, number) ->
     MUST(10, at >= headNow);
     MUST(11, due > dueDone);
     MUST(7, (entry == kind && entryEpoch == ofEpoch) || (kind == absent && event[entryEpoch] != none));
     MUST(9, entry == kind || event[entryEpoch] == refused || (pageCounted[g] & BIT(entryEpoch)) != 0);
     MUST(9, (pageCounted[headGeneration] & ~pageCounted[g] & ~KEPT(kind, ofEpoch)) == 0);
     entry = kind; entryEpoch = ofEpoch; entryMs = ofMs; headNow = at; headGeneration = g; dueDone = due;
     writes++; tokenEpoch = e; token = releasing; written = true
  :: else
  fi
}

/* A write that was given up lands, under the condition that it carries. */
proctype Late() {
end:
  do
  :: atomic { lateKind != nothing ->
       if
       :: lateKind == entries -> storeEntries(lateEpoch, lateNumber, lateEntry, lateEntryEpoch, lateEntryMs, lateNow, lateToken)
       :: lateKind == insert -> insertEvent(lateEntryEpoch, lateEntryEpoch, lateOutcome)
       :: lateKind == page -> storePage(lateEpoch, lateGeneration, lateRead, lateCounted, lateLast)
       :: lateKind == release -> storeRelease(lateEpoch, lateNumber, lateEntry, lateEntryEpoch, lateEntryMs, lateNow, lateGeneration, lateDue)
       fi;
       lateKind = nothing; lateEpoch = 0; lateNumber = 0; lateEntry = none; lateEntryEpoch = 0; lateEntryMs = 0; lateNow = 0; lateToken = noToken; lateOutcome = none;
       lateGeneration = 0; lateRead = 0; lateCounted = 0; lateLast = 0; lateDue = 0; written = false }
  od
}

#define MAY_BE_LATE (lateLeft > 0 && lateKind == nothing)

/* Sends an update of entries until its answer is clear. A refusal may be the answer to a repeat; the token of the head decides. */
inline sendEntries(kind, ofEpoch, ofMs, as) {
  do
  :: atomic { step;
       if
       :: storeEntries(mine, seenWrites, kind, ofEpoch, ofMs, nowMs, as);
          if
          :: written -> written = false; if :: seenWrites++; break :: true fi      /* or its answer is lost */
          :: else -> if :: DONE(as) -> seenWrites++; break :: else -> goto next fi
          fi
       :: MAY_BE_LATE -> lateLeft--; lateKind = entries; lateEpoch = mine; lateNumber = seenWrites; lateEntry = kind; lateEntryEpoch = ofEpoch;
          lateEntryMs = ofMs; lateNow = nowMs; lateToken = as
       fi }
  od
}

inline sendEvent(forEpoch, told) {
  do
  :: atomic { step;
       if
       :: insertEvent(EVENT_ID(forEpoch), forEpoch, told); told = event[EVENT_ID(forEpoch)]; break
       :: MAY_BE_LATE -> lateLeft--; lateKind = insert; lateEntryEpoch = EVENT_ID(forEpoch); lateOutcome = told
       fi }
  od
}

/* Writes the page where the windows changed, in place or (NEW_PAGES) in a new generation; g is then the generation to be named. */
inline sendPage() {
  atomic { step;
    if
    :: isChanged
#ifdef NEW_PAGES
    :: newPages > 0 -> newPages--; read = NEW; g++
#endif
    :: !isChanged -> goto unchanged
    fi };
  do
  :: atomic { step;
       if
       :: storePage(mine, g, read, counted, last);
          if
          :: written -> written = false; if :: break :: true fi
          :: else -> if :: pageEpoch[g] == mine -> break :: else -> goto dead fi
          fi
       :: MAY_BE_LATE -> lateLeft--; lateKind = page; lateEpoch = mine; lateGeneration = g; lateRead = read; lateCounted = counted; lateLast = last
       fi }
  od
}

inline sendRelease() {
  do
  :: atomic { step;
       if
       :: storeRelease(mine, seenWrites, keeps, keepsEpoch, keepsMs, nowMs, g, due);
          if
          :: written -> written = false; if :: break :: true fi
          :: else -> break                                       /* refused: the repeat of one that was executed, or overtaken */
          fi
       :: MAY_BE_LATE -> lateLeft--; lateKind = release; lateEpoch = mine; lateNumber = seenWrites; lateEntry = keeps; lateEntryEpoch = keepsEpoch;
          lateEntryMs = keepsMs; lateNow = nowMs; lateGeneration = g; lateDue = due
       fi }
  od
}

#ifdef NEW_PAGES
byte newPages = 2;
#endif

/* Its first message is the one of due time `due` + 1. */
proctype Worker(byte me; byte rounds; byte due) {
  byte started, mine, seenWrites, nowMs, atMs, seenVersion, seenGeneration, seenCount, sentGeneration, sentVersion;
  byte g, read, counted, last, keepsEpoch, keepsMs, tries;
  bool unclear, isChanged;
  mtype keeps, outcome;
next:
  atomic {
    /* Nothing survives an invocation. */
    started = 0; mine = 0; seenWrites = 0; nowMs = 0; atMs = 0; seenVersion = 0; seenGeneration = 0; seenCount = 0; sentGeneration = 0; sentVersion = 0;
    g = 0; read = 0; counted = 0; last = 0; keepsEpoch = 0; keepsMs = 0; tries = 0; unclear = false; isChanged = false; keeps = absent; outcome = none;
    written = false;
    if
    :: rounds > 0 -> rounds--
    :: else -> goto finished
    fi;
    due++
  };

  /* Raise the epoch, get the head with its entry. A due time that is done is refused. */
claim:
  atomic {
#ifndef LEFT_OUT_DUE_OF_CLAIM
    if :: dueDone >= due -> goto next :: else fi;
#endif
    started = now; epoch++; mine = epoch; writes++; seenWrites = writes; token = claiming; tokenEpoch = mine;
    keeps = entry; keepsEpoch = entryEpoch; keepsMs = entryMs; g = headGeneration;
#ifndef LEFT_OUT_TIME_OF_HEAD
    nowMs = headNow
#endif
  };

  /* The page, strongly. nowMs is the latest of the own clock, the head's, the entry's and the page's. */
load:
  atomic { step;
    if :: pageEpoch[g] > mine -> goto dead :: else fi;          /* overtaken */
    read = pageEpoch[g]; counted = pageCounted[g]; last = pageLast[g];
    nowMs = LATEST(nowMs, CLOCK);
    if :: keeps == open -> nowMs = LATEST(nowMs, decidedMs[keepsEpoch]) :: keeps == uncounted -> nowMs = LATEST(nowMs, keepsMs) :: else fi;
#ifndef LEFT_OUT_TIME_OF_PAGE
    if :: last > 0 -> nowMs = LATEST(nowMs, last - 1) :: else fi;
#endif
    MUST(10, nowMs + 1 >= last) };

observe:
  atomic { step; seenVersion = version; seenGeneration = generation; seenCount = count };
#ifdef LEFT_OUT_NOW_BEFORE_OBSERVATION
  atomic { step; nowMs = LATEST(nowMs, CLOCK) };
#endif

  if
  :: keeps == open && PAST(DEADLINE(decidedMs[keepsEpoch])) ->
     /* settle what an earlier holder left open: the workload holds in this sync. */
     if
#ifdef LEFT_OUT_PROOF_OF_REFUSAL
     :: seenCount != wanted[keepsEpoch] -> outcome = refused
#else
     :: !MOVED(decidedGeneration[keepsEpoch], decidedVersion[keepsEpoch]) -> outcome = refused
     :: MOVED(decidedGeneration[keepsEpoch], decidedVersion[keepsEpoch]) && seenCount != wanted[keepsEpoch] -> outcome = unknown
#endif
#ifdef APPLIED_BY_COUNT
     :: seenCount == wanted[keepsEpoch] -> outcome = applied
#else
     :: MOVED(decidedGeneration[keepsEpoch], decidedVersion[keepsEpoch]) && seenCount == wanted[keepsEpoch] -> outcome = applied
#endif
     fi;
settleLate:
     sendEvent(keepsEpoch, outcome);
     if
     :: outcome == refused
     :: else -> counted = counted | BIT(keepsEpoch); last = nowMs + 1; isChanged = true
     fi;
     keeps = uncounted; keepsMs = nowMs;
     goto holding
  :: keeps == open && !PAST(DEADLINE(decidedMs[keepsEpoch])) -> goto holding      /* it stays open */
  :: keeps == uncounted ->
countLate:
     /* Count it from the time of its event, and hold: the decision did not know of it. */
     if
     :: event[keepsEpoch] == refused
     :: else -> counted = counted | BIT(keepsEpoch); last = LATEST(last, keepsMs + 1); isChanged = true
     fi;
     goto holding
  :: else
  fi;

  /* One more, unless the window says no. */
decide:
  if
  :: last == 0 || nowMs >= last - 1 + WINDOW ->
     atomic { wanted[mine] = seenCount + 1; decidedGeneration[mine] = seenGeneration; decidedVersion[mine] = seenVersion; decidedMs[mine] = nowMs; windows[mine] = counted }
  :: else -> goto closing
  fi;

#ifdef WAVES
  /* A wave before this one: an update of the head with intents of other workloads alone. */
otherWave:
  if
  :: sendEntries(absent, 0, 0, others)
  :: true
  fi;
#endif

  /* One update of the head, before any PUT. */
#ifndef LEFT_OUT_INTEND
intend:
  sendEntries(open, mine, 0, intending);
#endif
  keeps = open; keepsEpoch = mine; keepsMs = 0;

  /* Each PUT under the checks. One that was not sent in time is refused. After a denial look again and, after a conflict, write the same count under the same intent. */
  sentGeneration = seenGeneration; sentVersion = seenVersion;
act:
#ifdef LATE_END
  atomic { step;
    if
#ifndef LEFT_OUT_CLOCK_CHECK
    :: CLOCK + SERVER + MARGIN > DEADLINE(decidedMs[mine]) -> goto notSent
    :: else ->
#else
    :: true ->
#endif
       put[mine] = flying; putVersion[mine] = sentVersion; putEnds[mine] = now + SERVER; tries++
    fi };
#else
#ifndef LEFT_OUT_CLOCK_CHECK
  atomic { step;
    if
    :: CLOCK + SERVER + MARGIN <= DEADLINE(decidedMs[mine])
    :: else -> goto notSent
    fi };
#endif
  if
  :: atomic { MAY_SEND -> put[mine] = flying; putVersion[mine] = sentVersion; putEnds[mine] = now + SERVER; tries++ }
  :: !MAY_SEND -> goto dead
  fi;
#endif
  if
  :: put[mine] == done -> outcome = applied
  :: put[mine] == done || put[mine] == gone -> unclear = true      /* the answer was lost */
  :: put[mine] == flying -> unclear = true                         /* timed out: it may still land */
  :: put[mine] == conflict || put[mine] == denied -> outcome = refused
#ifdef LEFT_OUT_NEVER_REPEATS
  :: put[mine] == flying -> outcome = refused                      /* a repeat is answered while the first copy is on its way */
#endif
  fi;
  if
  :: unclear -> goto holding                                       /* stays open, settled by a later holder */
  :: !unclear && outcome == refused ->
#ifdef LEFT_OUT_LOOK
     if :: put[mine] == conflict && tries < 2 -> atomic { step; sentVersion = version; sentGeneration = generation }; goto act :: else fi
#else
look:
     atomic { step; seenVersion = version; seenGeneration = generation; seenCount = count };
     if
#ifdef LEFT_OUT_PROOF_AFTER_DENIAL
     :: seenCount != wanted[mine] ->
#else
     :: !MOVED(sentGeneration, sentVersion) || ONE_OTHER_CHANGE ->
#endif
        /* No copy took effect, and that is proven. */
        if :: put[mine] == conflict && tries < 2 -> sentVersion = seenVersion; sentGeneration = seenGeneration; goto act :: else fi
     :: else -> outcome = unknown
     fi
#endif
  :: else
  fi;
  goto settle;
notSent:
  /* Or the clock is found to be wrong: then it stays open. A conflict before it was proven to have had no effect. */
  if
  :: outcome = refused
  :: goto holding
  fi;

  /* At once; the event counts from a clock reading after the answer. */
settle:
#ifdef LEFT_OUT_TIME_AFTER_ANSWER
  atMs = nowMs;
#else
  atMs = LATEST(nowMs, CLOCK);
#endif
  sendEvent(mine, outcome);

#ifdef WAVES
  /* A wave after this one: its update leaves the settled scale in the head until a page counts it. */
nextWave:
  if
#ifdef LEFT_OUT_UNCOUNTED
  :: sendEntries(absent, 0, 0, counting)
#else
  :: sendEntries(uncounted, mine, atMs, counting)
#endif
  :: true
  fi;
#endif
  if
  :: outcome == refused
  :: else -> counted = counted | BIT(mine); last = atMs + 1; isChanged = true
  fi;
  keeps = absent; keepsEpoch = 0; keepsMs = 0;
  goto closing;

holding:
#ifdef WAVES
  /* A wave of other workloads: its update leaves the entry of this one in the head. */
  if
  :: sendEntries(keeps, keepsEpoch, keepsMs, others)
  :: true
  fi;
#endif
  if
  :: keeps == uncounted -> keeps = absent; keepsEpoch = 0; keepsMs = 0
  :: else
  fi;

closing:
  /* Pages, then one update: the entry cleared or kept, the pages named, the due time done. */
  sendPage();
unchanged:
  sendRelease();
  goto next;
dead:
  goto next;
finished:
  skip
}

init {
  atomic {
    byte e = 1;
    if :: DIFF > 0 -> skew[0] = DIFF :: DIFF > 0 -> skew[1] = DIFF :: true fi;   /* equal clocks, or either ahead of the other */
    do
    :: e < EPOCHS -> run Server(e); e++
    :: else -> break
    od;
    run Time(); run Person(); run Late(); run Worker(0, FIRST_ROUNDS, 0);
    /* The second worker has copies of the messages of the first, or those that follow. */
    if :: run Worker(1, SECOND_ROUNDS, 0) :: run Worker(1, SECOND_ROUNDS, FIRST_ROUNDS) fi
  }
}
