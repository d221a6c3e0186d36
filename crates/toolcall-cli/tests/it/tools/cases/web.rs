//! Cases of the tools that use the web.
//! They connect to this machine only.

use expect_test::expect;
use serde_json::json;

use super::CallCase;

pub(super) fn cases() -> Vec<CallCase> {
    vec![
        CallCase::succeeds(
            "fetch",
            json!({"url": "http://127.0.0.1:PORT/page"}),
            expect![[r#"
                  title: Fetch http://127.0.0.1:PORT/page
                  kind: fetch
                  rawInput: {"url":"http://127.0.0.1:PORT/page"}
                pending
                asked
                  | Reaches `127.0.0.1:PORT`
                  | ```json
                  | {
                  |   "url": "http://127.0.0.1:PORT/page"
                  | }
                  | ```
                in_progress
                completed
                  | 200 OK: http://127.0.0.1:PORT/page
                  | - text/html, 51 bytes
                  | # Tea
                  | 
                  | Boil [water](http://127.0.0.1:PORT/water).
                  rawOutput: {"url":"http://127.0.0.1:PORT/page","status":200,"contentType":"text/html","size":51,"bytes":51,"shownBytes":50,"redirects":0}
            "#]],
        ),
        CallCase::fails(
            "fetch",
            json!({"url": "http://127.0.0.1:PORT/missing"}),
            expect![[r#"
                  title: Fetch http://127.0.0.1:PORT/missing
                  kind: fetch
                  rawInput: {"url":"http://127.0.0.1:PORT/missing"}
                pending
                asked
                  | Reaches `127.0.0.1:PORT`
                  | ```json
                  | {
                  |   "url": "http://127.0.0.1:PORT/missing"
                  | }
                  | ```
                in_progress
                failed
                  | `127.0.0.1:PORT` answered 404 Not Found; check the address, or search for where it went
                  | 404 Not Found: http://127.0.0.1:PORT/missing
                  | - text/plain, 21 bytes
                  | there is nothing here
                  rawOutput: {"url":"http://127.0.0.1:PORT/missing","status":404,"contentType":"text/plain","size":21,"bytes":21,"shownBytes":21,"redirects":0}
            "#]],
        ),
        CallCase::fails(
            "fetch",
            json!({"url": "http://10.0.0.1/"}),
            expect![[r#"
                  title: Fetch http://10.0.0.1/
                  kind: fetch
                  rawInput: {"url":"http://10.0.0.1/"}
                pending
                failed
                  | `10.0.0.1` leads to 10.0.0.1, which is private, so it is not reached; the user can allow `10.0.0.1` in the settings
            "#]],
        ),
        CallCase::succeeds(
            "web_search",
            json!({"query": "tea"}),
            expect![[r#"
                  title: Search the web for "tea"
                  kind: fetch
                  rawInput: {"query":"tea"}
                pending
                asked
                  | Reaches `127.0.0.1:PORT`
                  | ```json
                  | {
                  |   "query": "tea"
                  | }
                  | ```
                in_progress
                completed
                  | 1 result
                  | 1. Tea
                  |    https://tea.example/
                  |    Boil water.
                  link: Tea https://tea.example/
                  rawOutput: {"query":"tea","count":1,"results":[{"title":"Tea","url":"https://tea.example/","snippet":"Boil water."}]}
            "#]],
        ),
        CallCase::fails(
            "web_search",
            json!({"query": "milk"}),
            expect![[r#"
                  title: Search the web for "milk"
                  kind: fetch
                  rawInput: {"query":"milk"}
                pending
                asked
                  | Reaches `127.0.0.1:PORT`
                  | ```json
                  | {
                  |   "query": "milk"
                  | }
                  | ```
                in_progress
                failed
                  | the search at `127.0.0.1:PORT` answered 500 Internal Server Error; the user should check its address and key
            "#]],
        ),
    ]
}
