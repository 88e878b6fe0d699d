from paddle_jax.dataset.movielens import *
from paddle_jax.dataset.movielens import MovieInfo as MovieInfo
from paddle_jax.dataset.movielens import UserInfo as UserInfo
from paddle_jax.dataset.movielens import fetch as fetch
from paddle_jax.dataset.movielens import get_movie_title_dict as get_movie_title_dict
from paddle_jax.dataset.movielens import max_job_id as max_job_id
from paddle_jax.dataset.movielens import max_movie_id as max_movie_id
from paddle_jax.dataset.movielens import max_user_id as max_user_id
from paddle_jax.dataset.movielens import movie_categories as movie_categories
from paddle_jax.dataset.movielens import movie_info as movie_info
from paddle_jax.dataset.movielens import user_info as user_info
