(* The reader of darrm-check, which stands outside the proof. It reads whole numbers, prints back
   each list of them as it hands it to the checker, and then yes or no.
     2 K t terms a b c f Dn Dd pn pd one n phi(0) ... phi(n-1)          TwoClasses.table
       shape prior n {yn yd m counts ...} gn gd                         Bound.optimal
         shape: 0 free, 1 monotone, 2 any; prior: 0 n d | 1 n counts ... | 2 n weights ... d
       3 n counts ... cost0 cost1 unit n {yn yd zero m counts ...} gn gd  ByName.named_optimal
     3 K C t terms c f pn pd one abstains missing n {m votes ... k masses ...}  ManyClasses.table
       prior an ad n {m votes ... m votes ... k prices ... yd} gn gd  ManyBound.optimal
         prior: 0 n d | 1 n d | 2 n {m votes ... count}: accuracy, concentration, counts
     4 the table of 3, n {n m a b} Q S T n z ...                Answers.price
       n m a b: answers keep (ln (n/m), a/b) each, Price.keeping
     5 the table of 3, whose histograms begin with their label, labels, what 4 has  Named.named_price
     6 K t missing terms c f pn pd sn sd M Q S T n z ...         NoisePrice.noise_price *)
open Checker

let words = ref []
let next () = match !words with
  | w :: rest -> words := rest; print_string (Big_int_Z.string_of_big_int w ^ " "); w
  | [] -> prerr_endline "darrm-check: too few numbers"; exit 3
let int () =
  let w = next () in
  if Big_int_Z.is_int_big_int w && Big_int_Z.sign_big_int w >= 0 then Big_int_Z.int_of_big_int w
  else (prerr_endline "darrm-check: a count is below 0 or too large"; exit 3)
let natural n = let rec go n a = if n = 0 then a else go (n - 1) (S a) in go n O
let nat () = natural (int ())
let list read = List.map (fun () -> read ()) (List.init (int ()) (fun _ -> ()))

let say what answer = Printf.printf "\n%s: %s%!" what (if answer then "yes" else "NO"); answer

let () =
  (try while true do Scanf.scanf " %s" (fun w ->
     if w = "" then raise End_of_file else words := Big_int_Z.big_int_of_string w :: !words) done
   with End_of_file -> () | Failure _ -> prerr_endline "darrm-check: no whole number"; exit 3);
  words := List.rev !words;
  let kind = int () in
  let verdicts = match kind with
    | 2 ->
      let k = nat () in let t = nat () in let terms = nat () in
      let a = next () in let b = next () in let c = next () in let f = next () in
      let dn = next () in let dd = next () in let pn = next () in let pd = next () in
      let one = next () in let phi = list next in
      let table = two_table k t terms a b c f dn dd pn pd one phi in
      let term () = let yn = next () in let yd = next () in (yn, yd) in
      let optimal = match int () with
        | 3 ->
          let counts = list next in
          let cost0 = next () in let cost1 = next () in let unit = next () in
          let proof = list (fun () ->
            let y = term () in let zero = int () = 1 in ((y, list nat), zero)) in
          named_optimal table (named_losses counts cost0 cost1 unit) proof
        | shape ->
          let prior = match int () with
            | 0 -> let n = next () in let d = next () in mean_prior n d
            | 1 -> counts_prior (list next)
            | 2 -> let w = list next in let d = next () in worst_prior w d
            | _ -> prerr_endline "darrm-check: no prior"; exit 3 in
          let proof = list (fun () -> let y = term () in (y, list nat)) in
          two_optimal table (shape_of (natural shape)) prior proof in
      let gn = next () in let gd = next () in
      [(fun () -> say "private" (two_private table));
       (fun () -> say "optimal" (optimal gn gd))]
    | 3 | 4 | 5 ->
      let k = nat () in let cl = nat () in let t = nat () in let terms = nat () in
      let c = next () in let f = next () in let pn = next () in let pd = next () in
      let one = next () in let abstains = int () = 1 in let missing = int () = 1 in
      let rows = list (fun () -> let h = list nat in let m = list next in (h, m)) in
      let table = many_table k cl t terms c f pn pd one abstains missing rows in
      if kind = 3 then
        let prior = match int () with
          | 0 -> let n = next () in let d = next () in accuracy_prior n d
          | 1 -> let n = next () in let d = next () in concentration_prior n d
          | 2 -> histograms_prior (list (fun () -> let h = list nat in let n = next () in (h, n)))
          | _ -> prerr_endline "darrm-check: no prior"; exit 3 in
        let an = next () in let ad = next () in
        let proof = list (fun () ->
          let h = list nat in let h' = list nat in let ys = list next in let yd = next () in many_row h h' ys yd) in
        let gn = next () in let gd = next () in
        [(fun () -> say "private" (many_private table));
         (fun () -> say "optimal" (many_optimal table prior an ad proof gn gd))]
      else
        let price = if kind = 4 then answers_price table else let labels = nat () in answers_named table labels in
        let more = list (fun () ->
          let n = next () in let m = next () in let a = next () in let b = next () in answers_keeping n m a b) in
        let q = nat () in let s = next () in let t = next () in let zs = list next in
        [fun () -> say "private" (price more q s t zs)]
    | 6 ->
      let k = nat () in let t = nat () in let missing = int () = 1 in let terms = nat () in
      let c = next () in let f = next () in let pn = next () in let pd = next () in
      let sn = next () in let sd = next () in let m = nat () in
      let law = noise_table k t missing terms c f pn pd sn sd m in
      let q = nat () in let s = next () in let t = next () in let zs = list next in
      [fun () -> say "private" (noise_price law q s t zs)]
    | _ -> prerr_endline "darrm-check: no table"; exit 3 in
  if !words <> [] then (prerr_endline "darrm-check: too many numbers"; exit 3);
  let good = List.for_all (fun v -> v ()) verdicts in
  print_newline ();
  exit (if good then 0 else 4)
